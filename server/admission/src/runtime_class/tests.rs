//! Overhead and scheduling, by upstream's tests of the plugin.

use serde_json::{Value, json};

use super::super::testing::parsed;
use super::*;

/// Returns overhead, node selector, and toleration keys of a pod after the plugin, or the error.
fn filled(spec: Value, class: Option<Value>) -> Result<(Value, Value, Vec<String>), Conflict> {
    let mut pod: Pod = parsed(&json!({"spec": spec}));
    let class = class.map(|class| parsed::<RuntimeClass>(&class));
    fill(&mut pod, class.as_ref())?;
    check(&pod, class.as_ref())?;
    let overhead = pod.spec.overhead.iter().map(|(name, quantity)| (name.clone(), quantity.to_string().into()));
    let selector = pod.spec.node_selector.iter().map(|(key, value)| (key.clone(), value.clone().into()));
    let tolerations = pod.spec.tolerations.iter().map(|toleration| toleration.key.clone()).collect();
    Ok((Value::Object(overhead.collect()), Value::Object(selector.collect()), tolerations))
}

#[test]
fn copies_overhead_and_scheduling_of_the_class() {
    let overhead = json!({"overhead": {"podFixed": {"cpu": "100m", "memory": "1"}}});
    let fixed = json!({"cpu": "100m", "memory": "1"});
    let scheduling = |selector: Value, tolerations: Value| {
        Some(json!({"scheduling": {"nodeSelector": selector, "tolerations": tolerations}}))
    };
    let other = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
    let none = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
    let foo = json!([{"key": "foo", "operator": "Equal", "value": "bar", "effect": "NoSchedule"}]);
    let fizz = json!([{"key": "fizz", "operator": "Equal", "value": "buzz", "effect": "NoSchedule"}]);
    let ok = |overhead: &Value, selector: Value, keys: &[&str]| {
        Ok((overhead.clone(), selector, keys.iter().map(|key| (*key).to_owned()).collect()))
    };
    let empty = json!({});
    let table = [
        (json!({}), None, ok(&empty, json!({}), &[])),
        (json!({}), Some(json!({})), ok(&empty, json!({}), &[])),
        (json!({}), Some(overhead.clone()), ok(&fixed, json!({}), &[])),
        (json!({"overhead": fixed}), Some(overhead.clone()), ok(&fixed, json!({}), &[])),
        (json!({"overhead": {"cpu": "0.1", "memory": "1"}}), Some(overhead.clone()), ok(&fixed, json!({}), &[])),
        (json!({"overhead": {"cpu": "1"}}), Some(overhead), Err(other.to_owned())),
        (json!({"overhead": {"cpu": "1"}}), None, Err(none.to_owned())),
        (json!({"overhead": {"cpu": "1"}}), Some(json!({})), Err(none.to_owned())),
        (json!({}), scheduling(json!({"a": "b"}), foo.clone()), ok(&empty, json!({"a": "b"}), &["foo"])),
        (
            json!({"nodeSelector": {"c": "d"}, "tolerations": fizz}),
            scheduling(json!({"a": "b"}), foo.clone()),
            ok(&empty, json!({"a": "b", "c": "d"}), &["fizz", "foo"]),
        ),
        (
            json!({"nodeSelector": {"a": "b"}, "tolerations": foo}),
            scheduling(json!({"a": "b"}), foo.clone()),
            ok(&empty, json!({"a": "b"}), &["foo"]),
        ),
        (
            json!({"nodeSelector": {"a": "x"}}),
            scheduling(json!({"a": "b"}), json!([])),
            Err("conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = x".into()),
        ),
    ];
    for (spec, class, expect) in table {
        let shown = format!("{spec} of {class:?}");
        assert_eq!(filled(spec, class).map_err(|conflict| conflict.to_string()), expect, "{shown}");
    }
}
