//! The annotations of autoscaling/v1, and lists of structs as their text.

use std::collections::BTreeMap;

use machinery::json::{self, Issues, Value};
use machinery::reflect::{Mut, Ref, Struct};

/// Metrics besides the use of CPU (`MetricSpecsAnnotation`).
pub const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
/// Last values of all metrics (`MetricStatusesAnnotation`).
pub const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
/// Conditions (`HorizontalPodAutoscalerConditionsAnnotation`).
pub const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
/// How to scale (`BehaviorSpecsAnnotation`).
pub const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

/// All annotations that are fields elsewhere, the tolerances of the beta versions included.
const ROUND_TRIP: [&str; 6] = [
    METRICS,
    CURRENT_METRICS,
    CONDITIONS,
    BEHAVIOR,
    "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
];

/// Drops what is a field elsewhere (`DropRoundTripHorizontalPodAutoscalerAnnotations`).
pub fn remove(annotations: &mut BTreeMap<String, String>) {
    for key in ROUND_TRIP {
        annotations.remove(key);
    }
}

/// Reads a list; text that is none counts as absent.
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
