//! Annotations of autoscaling/v1, and the text form of lists of structs.

use std::collections::BTreeMap;

use machinery::json::{self, Issues, Value};
use machinery::reflect::{Mut, Ref, Struct};

/// Metrics other than CPU utilization (`MetricSpecsAnnotation`).
pub const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
/// Current values of all metrics (`MetricStatusesAnnotation`).
pub const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
/// Conditions (`HorizontalPodAutoscalerConditionsAnnotation`).
pub const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
/// Scaling behavior (`BehaviorSpecsAnnotation`).
pub const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

/// All annotations that correspond to fields of other versions, including the tolerances of the beta
/// versions.
const ROUND_TRIP: [&str; 6] = [
    METRICS,
    CURRENT_METRICS,
    CONDITIONS,
    BEHAVIOR,
    "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
];

/// Removes annotations that correspond to fields (`DropRoundTripHorizontalPodAutoscalerAnnotations`).
pub fn remove(annotations: &mut BTreeMap<String, String>) {
    for key in ROUND_TRIP {
        annotations.remove(key);
    }
}

/// Reads a list; invalid text counts as absent.
pub fn read_list<T: Struct>(annotations: &BTreeMap<String, String>, key: &str) -> Option<Vec<T>> {
    let items = match json::parse(annotations.get(key)?.as_bytes(), &mut Issues::ignore()).ok()? {
        Value::Array(items) => items,
        Value::Null => Vec::new(),
        _ => return None,
    };
    let read = |item: &Value| {
        let mut into = T::default();
        json::from_value(item, Mut::of(&mut into), &mut Issues::ignore()).ok().map(|()| into)
    };
    items.iter().map(read).collect()
}

/// Writes a list unless it is empty.
pub fn write_list<T: Struct>(annotations: &mut BTreeMap<String, String>, key: &str, items: &[T]) {
    if items.is_empty() {
        return;
    }
    let mut text = Vec::new();
    for item in items {
        text.push(if text.is_empty() { b'[' } else { b',' });
        json::encode(Ref::of(item), &mut text);
    }
    text.push(b']');
    annotations.insert(key.to_owned(), String::from_utf8_lossy(&text).into_owned());
}
