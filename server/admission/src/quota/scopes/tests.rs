//! Matching of scopes, by upstream's tests of the evaluators.

use serde_json::{Value, json};

use super::super::super::testing::{owned, parsed};
use super::*;

fn selects(spec: &Value, object: &Owned) -> bool {
    select(&parsed(&json!({"spec": spec})), object)
}

fn scope(name: &str, operator: &str, values: &[&str]) -> Value {
    json!({"scopeSelector": {"matchExpressions": [{"scopeName": name, "operator": operator, "values": values}]}})
}

#[test]
fn scopes_of_pods() {
    let pod = |spec: Value, status: Value| owned::<Pod>(&json!({"spec": spec, "status": status}));
    let deadline = |seconds: i64| pod(json!({"activeDeadlineSeconds": seconds}), json!({"qosClass": "Burstable"}));
    let best_effort = pod(json!({}), json!({"qosClass": "BestEffort"}));
    let of_class = |name: &str| pod(json!({"priorityClassName": name}), json!({"qosClass": "Burstable"}));
    let term =
        |field: &str| json!({"topologyKey": "k", field: if field == "namespaces" { json!(["b"]) } else { json!({}) }});
    let near = |kind: &str, when: &str, term: Value| pod(json!({"affinity": {kind: {when: [term]}}}), json!({}));
    let plain = |name: &str| json!({"scopes": [name]});
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
    let table = [
        (json!({}), &deadline(1), true),
        (plain("Terminating"), &deadline(1), true),
        (plain("Terminating"), &deadline(0), true),
        (plain("Terminating"), &best_effort, false),
        (plain("NotTerminating"), &deadline(1), false),
        (plain("NotTerminating"), &best_effort, true),
        (plain("BestEffort"), &best_effort, true),
        (plain("BestEffort"), &deadline(1), false),
        (plain("NotBestEffort"), &best_effort, false),
        (plain("NotBestEffort"), &deadline(1), true),
        (json!({"scopes": ["Terminating", "NotBestEffort"]}), &deadline(1), true),
        (json!({"scopes": ["Terminating", "BestEffort"]}), &deadline(1), false),
        (scope("PriorityClass", "Exists", &[]), &of_class("high"), true),
        (scope("PriorityClass", "Exists", &[]), &best_effort, false),
        (scope("PriorityClass", "In", &["high", "low"]), &of_class("high"), true),
        (scope("PriorityClass", "In", &["low"]), &of_class("high"), false),
        (scope("PriorityClass", "NotIn", &["low"]), &of_class("high"), true),
        (scope("PriorityClass", "NotIn", &["high"]), &of_class("high"), false),
        (scope("PriorityClass", "NotIn", &["high"]), &best_effort, true),
        (scope("PriorityClass", "DoesNotExist", &[]), &best_effort, true),
        (scope("PriorityClass", "DoesNotExist", &[]), &of_class("high"), false),
        (plain("CrossNamespacePodAffinity"), &best_effort, false),
        (plain("CrossNamespacePodAffinity"), &near("podAffinity", REQUIRED, json!({"topologyKey": "k"})), false),
        (plain("CrossNamespacePodAffinity"), &near("podAffinity", REQUIRED, term("namespaces")), true),
        (plain("CrossNamespacePodAffinity"), &near("podAntiAffinity", REQUIRED, term("namespaceSelector")), true),
        (
            plain("CrossNamespacePodAffinity"),
            &near("podAffinity", PREFERRED, json!({"weight": 1, "podAffinityTerm": term("namespaces")})),
            true,
        ),
        (plain("VolumeAttributesClass"), &best_effort, false),
        (plain("NoSuchScope"), &best_effort, false),
    ];
    for (spec, pod, expect) in table {
        assert_eq!(selects(&spec, pod), expect, "{spec}");
    }
}

#[test]
fn scopes_of_claims() {
    let of = |spec: Value, status: Value| owned::<PersistentVolumeClaim>(&json!({"spec": spec, "status": status}));
    let gold = of(json!({"volumeAttributesClassName": "gold"}), json!({}));
    let current =
        of(json!({"volumeAttributesClassName": "gold"}), json!({"currentVolumeAttributesClassName": "silver"}));
    let target = of(json!({}), json!({"modifyVolumeStatus": {"targetVolumeAttributesClassName": "iron"}}));
    let none = of(json!({}), json!({}));
    const CLASS: &str = "VolumeAttributesClass";
    let table = [
        (json!({}), &none, true),
        (json!({"scopes": ["Terminating"]}), &none, false),
        (scope(CLASS, "Exists", &[]), &gold, true),
        (scope(CLASS, "Exists", &[]), &none, false),
        (scope(CLASS, "Exists", &[]), &target, true),
        (scope(CLASS, "DoesNotExist", &[]), &none, true),
        (scope(CLASS, "DoesNotExist", &[]), &gold, false),
        (scope(CLASS, "In", &["gold"]), &gold, true),
        (scope(CLASS, "In", &["silver"]), &current, true),
        (scope(CLASS, "In", &["iron"]), &target, true),
        (scope(CLASS, "In", &["iron"]), &current, false),
        (scope(CLASS, "NotIn", &["gold"]), &gold, false),
        (scope(CLASS, "NotIn", &["gold"]), &current, true),
        (scope(CLASS, "NotIn", &["gold"]), &none, true),
    ];
    for (spec, claim, expect) in table {
        assert_eq!(selects(&spec, claim), expect, "{spec}");
    }
}

#[test]
fn other_objects_have_no_scopes() {
    let service = owned::<generated::core::v1::Service>(&json!({}));
    assert!(selects(&json!({}), &service));
    assert!(!selects(&json!({"scopes": ["NotTerminating"]}), &service));
}
