//! Defaults, limits, and ratios, by upstream's tests of the plugin.

use serde_json::{Value, json};

use super::super::testing::parsed;
use super::*;

fn item(document: Value) -> LimitRangeItem {
    parsed(&document)
}

/// A pod of `count` containers, each with these resources, and of init containers with theirs.
fn pod(count: usize, resources: &Value, init: &[Value]) -> Pod {
    let container = |name: String, resources: &Value| json!({"name": name, "resources": resources});
    let containers: Vec<Value> = (0..count).map(|i| container(format!("c{i}"), resources)).collect();
    let init: Vec<Value> = init.iter().enumerate().map(|(i, r)| container(format!("i{i}"), r)).collect();
    parsed(&json!({"spec": {"containers": containers, "initContainers": init}}))
}

fn refusal(pod: &Pod, limit: Value) -> Vec<String> {
    let mut wrong = Vec::new();
    check_pod(pod, &item(limit), &mut wrong);
    wrong
}

/// `request limit`, each `-` for none.
fn resources(name: &str, text: &str) -> Value {
    let (request, limit) = text.split_once(' ').unwrap();
    let part = |quantity: &str| if quantity == "-" { json!({}) } else { json!({name: quantity}) };
    json!({"requests": part(request), "limits": part(limit)})
}

/// Type of the limit, its constraint and quantity, count of containers, their request and limit,
/// those of init containers, and the error.
type Row = (&'static str, &'static str, &'static str, usize, &'static str, &'static [&'static str], &'static str);

/// Rows of upstream's table.
#[test]
fn pods_within_and_outside_of_limits() {
    for name in ["cpu", "memory", "ephemeral-storage", "example.com/device"] {
        let table: [Row; 31] = [
            ("Container", "min", "50", 1, "100 -", &[], ""),
            ("Container", "min", "50", 1, "100 200", &[], ""),
            ("Container", "min", "50", 1, "40 -", &[], "but request is 40"),
            ("Container", "min", "50", 1, "40 200", &[], "but request is 40"),
            ("Container", "min", "50", 1, "60 40", &[], "but limit is 40"),
            ("Container", "min", "50", 1, "- -", &[], "No request is specified"),
            ("Container", "min", "50", 1, "60 -", &["40 -"], "but request is 40"),
            ("Container", "max", "2k", 1, "500 1k", &[], ""),
            ("Container", "max", "2k", 1, "- 1k", &[], ""),
            ("Container", "max", "2k", 1, "500 2500", &[], "but limit is 2500"),
            ("Container", "max", "2k", 1, "- 2500", &[], "but limit is 2500"),
            ("Container", "max", "2k", 1, "- -", &[], "No limit is specified"),
            ("Container", "max", "2k", 1, "3k 1k", &[], "but request is 3k"),
            ("Container", "max", "2k", 1, "- 1k", &["- 3k"], "but limit is 3k"),
            ("Container", "maxLimitRequestRatio", "1500m", 1, "500 750", &[], ""),
            ("Container", "maxLimitRequestRatio", "1", 1, "1250 2500", &[], "but provided ratio is 2.000000"),
            ("Container", "maxLimitRequestRatio", "2", 1, "- 2", &[], "but no request is specified or request is 0"),
            ("Container", "maxLimitRequestRatio", "2", 1, "2 -", &[], "but no limit is specified or limit is 0"),
            ("Container", "maxLimitRequestRatio", "2", 1, "0 2", &[], "but no request is specified or request is 0"),
            ("Pod", "min", "100", 2, "75 -", &[], ""),
            ("Pod", "min", "100", 2, "75 200", &[], ""),
            ("Pod", "min", "100", 1, "75 -", &[], "but request is 75"),
            ("Pod", "min", "100", 1, "75 200", &[], "but request is 75"),
            ("Pod", "min", "100", 2, "40 -", &["100 -"], ""),
            ("Pod", "max", "2k", 2, "500 1k", &[], ""),
            ("Pod", "max", "2k", 2, "- 1k", &[], ""),
            ("Pod", "max", "2k", 3, "500 1k", &[], "but limit is 3k"),
            ("Pod", "max", "2k", 2, "500 1k", &["1k 2k", "1k 1k"], ""),
            ("Pod", "max", "1k", 1, "- 500", &["- 1500"], "but limit is 1500"),
            ("Pod", "maxLimitRequestRatio", "1500m", 3, "300 450", &[], ""),
            ("Pod", "maxLimitRequestRatio", "1500m", 3, "250 500", &[], "but provided ratio is 2.000000"),
        ];
        for (of, constraint, bound, count, container, init, expect) in table {
            let init: Vec<Value> = init.iter().map(|text| resources(name, text)).collect();
            let pod = pod(count, &resources(name, container), &init);
            let found = refusal(&pod, json!({"type": of, constraint: {name: bound}}));
            let shown = format!("{name} {of} {constraint} {bound} {count} {container}: {found:?}");
            match expect {
                "" => assert!(found.is_empty(), "{shown}"),
                expect => assert!(found.len() == 1 && found[0].ends_with(expect), "{shown}"),
            }
        }
    }
}

#[test]
fn ignores_limits_of_other_types() {
    let pod = pod(1, &resources("cpu", "- -"), &[]);
    for of in ["PersistentVolumeClaim", "Image", ""] {
        assert!(refusal(&pod, json!({"type": of, "min": {"cpu": "1"}, "max": {"cpu": "1"}})).is_empty(), "{of}");
    }
}

#[test]
fn claims_within_and_outside_of_limits() {
    let table = [
        ("10Gi", json!({"min": {"storage": "1Gi"}}), ""),
        ("10Gi", json!({"max": {"storage": "10Gi"}}), ""),
        (
            "500Mi",
            json!({"min": {"storage": "1Gi"}}),
            "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi",
        ),
        (
            "11Gi",
            json!({"max": {"storage": "10Gi"}}),
            "maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 11Gi",
        ),
    ];
    for (size, mut limit, expect) in table {
        limit["type"] = "PersistentVolumeClaim".into();
        let claim = parsed(&json!({"spec": {"resources": {"requests": {"storage": size}}}}));
        let mut wrong = Vec::new();
        check_claim(&claim, &item(limit.clone()), &mut wrong);
        assert_eq!(wrong.concat(), expect, "{size} {limit}");
    }
}

#[test]
fn sets_missing_defaults() {
    let limits = [
        item(
            json!({"type": "Container", "default": {"cpu": "75m"}, "defaultRequest": {"cpu": "10m", "memory": "5Mi"}}),
        ),
        item(json!({"type": "Pod", "default": {"memory": "1"}})),
        item(json!({"type": "Container", "default": {"memory": "10Mi"}, "defaultRequest": {"cpu": "50m"}})),
    ];
    let shown = |pod: &Pod| -> Vec<String> {
        let one = |c: &Container| {
            let list = |of: &Resources| of.iter().map(|(name, q)| format!("{name}={q}")).collect::<Vec<_>>().join(",");
            format!("{}/{}", list(&c.resources.requests), list(&c.resources.limits))
        };
        pod.spec.init_containers.iter().chain(&pod.spec.containers).map(one).collect()
    };
    let mut empty = pod(1, &json!({}), &[json!({"requests": {"cpu": "1"}})]);
    fill(&mut empty, &limits);
    assert_eq!(shown(&empty), ["cpu=1,memory=5Mi/cpu=75m,memory=10Mi", "cpu=50m,memory=5Mi/cpu=75m,memory=10Mi"]);
    let note = "LimitRanger plugin set: cpu, memory request for container c0; cpu, memory limit for container c0; \
                memory request for init container i0; cpu, memory limit for init container i0";
    assert_eq!(empty.metadata.annotations[ANNOTATION], note);

    let full = json!({"requests": {"cpu": "2", "memory": "1"}, "limits": {"cpu": "2", "memory": "1"}});
    let mut full = pod(1, &full, &[]);
    fill(&mut full, &limits);
    assert_eq!(shown(&full), ["cpu=2,memory=1/cpu=2,memory=1"]);
    assert!(full.metadata.annotations.is_empty());
}
