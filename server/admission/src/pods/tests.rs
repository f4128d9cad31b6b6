//! Node selectors, anti-affinity, and extended resources, by upstream's tests of the plugins.

use endpoints::Operation;
use serde_json::json;

use super::super::testing::{owned, request};
use super::*;

/// Returns the merged node selector of a pod, or none when it is rejected.
fn node_selector_of(of_pod: &str, wanted: &str, whitelist: &str) -> Option<Selector> {
    let (mut own, wanted) = (selector(of_pod).unwrap(), selector(wanted)?);
    check_selector(&own, &wanted, &json!({"team-a": whitelist}), "team-a").ok()?;
    own.extend(wanted);
    Some(own)
}

#[test]
fn node_selectors_of_namespaces() {
    let table = [
        ("", "", "", Some("")),
        ("", " infra = false ", "", Some("infra=false")),
        ("env=test", "infra=true", "", Some("infra=true,env=test")),
        ("infra=true", "infra=true", "", Some("infra=true")),
        ("infra=false", "infra=true", "", None),
        ("env=dev,color=blue", "infra=false, env = test", "", None),
        (
            "env=dev,color=blue",
            "infra=false, env = dev",
            "env=dev, infra=false, color=blue",
            Some("infra=false,env=dev,color=blue"),
        ),
        ("env=dev,color=blue", "infra=false, env = dev", "env=dev, infra=true, color=blue", None),
        ("env=dev,color=blue", "", "env=dev", None),
        ("", "env=dev", "env=prd", None),
        ("", "", "env=prd", Some("")),
        ("", "a=b=c", "", None),
        ("", "a", "", None),
        ("", "a=b,", "", None),
        ("", "a b=c", "", None),
        ("", "", "a=b=c", None),
    ];
    for (of_pod, wanted, whitelist, expect) in table {
        let expect = expect.map(|text| selector(text).unwrap());
        assert_eq!(node_selector_of(of_pod, wanted, whitelist), expect, "{of_pod:?} {wanted:?} {whitelist:?}");
    }
}

#[test]
fn required_anti_affinity_must_use_hostname() {
    let check = |term: &str, keys: &[&str], expect: bool| {
        let terms: Vec<Json> = keys.iter().map(|key| json!({"topologyKey": key, "labelSelector": {}})).collect();
        let object = owned::<Pod>(&json!({"spec": {"affinity": {"podAntiAffinity": {term: terms}}}}));
        let refused = check_anti_affinity(&request(Operation::Create, "Pod", "pods"), &object).err();
        assert_eq!(refused.map(|status| status.code), (!expect).then_some(403), "{term} {keys:?}");
    };
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    check(REQUIRED, &[], true);
    check(REQUIRED, &[HOSTNAME], true);
    check(REQUIRED, &[HOSTNAME, HOSTNAME], true);
    check(REQUIRED, &[" "], false);
    check(REQUIRED, &["topology.kubernetes.io/zone"], false);
    check(REQUIRED, &[HOSTNAME, "topology.kubernetes.io/zone"], false);
    let preferred = json!([{"weight": 1, "podAffinityTerm": {"topologyKey": "zone"}}]);
    let preferred = json!({"preferredDuringSchedulingIgnoredDuringExecution": preferred});
    let object = owned::<Pod>(&json!({"spec": {"affinity": {"podAntiAffinity": preferred}}}));
    assert!(check_anti_affinity(&request(Operation::Create, "Pod", "pods"), &object).is_ok());
    let service = owned::<generated::core::v1::Service>(&json!({}));
    assert_eq!(check_anti_affinity(&request(Operation::Create, "Pod", "pods"), &service).unwrap_err().code, 400);
}

/// Returns the tolerations of a pod with these container resources, as `key operator effect value`.
fn tolerated(containers: &[&[&str]], init: &[&str], tolerations: Json) -> Vec<String> {
    let container = |names: &&[&str]| {
        let requests: serde_json::Map<String, Json> =
            names.iter().map(|name| ((*name).to_owned(), json!("1"))).collect();
        json!({"name": "c", "resources": {"requests": requests}})
    };
    let mut object = owned::<Pod>(&json!({"spec": {
        "containers": containers.iter().map(container).collect::<Vec<_>>(),
        "initContainers": [container(&init)],
        "tolerations": tolerations,
    }}));
    tolerate_extended_resources(&mut object);
    let shown = |t: &Toleration| format!("{} {} {} {}", t.key, t.operator, t.effect, t.value).trim_end().to_owned();
    object.downcast_ref::<Pod>().unwrap().spec.tolerations.iter().map(shown).collect()
}

#[test]
fn extended_resources_are_tolerated() {
    let (ek, doo) = ("example.com/device-ek", "example.com/device-do");
    let of = |name: &str| format!("{name} Exists NoSchedule");
    let check = |containers: &[&[&str]], init: &[&str], own: Json, expect: &[String]| {
        assert_eq!(tolerated(containers, init, own.clone()), expect, "{containers:?} {init:?} {own}");
    };
    check(&[], &[], json!([]), &[]);
    check(&[&["cpu"]], &["memory"], json!([]), &[]);
    check(&[&[ek]], &[], json!([]), &[of(ek)]);
    check(&[&["cpu"], &[ek]], &[], json!([]), &[of(ek)]);
    check(&[&[ek], &[ek]], &[], json!([]), &[of(ek)]);
    check(&[&[ek], &[doo]], &[], json!([]), &[of(doo), of(ek)]);
    check(&[&["cpu"]], &[ek], json!([]), &[of(ek)]);
    check(&[&[ek]], &[doo], json!([]), &[of(doo), of(ek)]);
    check(&[&["kubernetes.io/x"], &["sub.kubernetes.io/x"], &["requests.example.com/x"]], &[], json!([]), &[]);
    let own = json!([{"key": "foo", "operator": "Equal", "value": "bar", "effect": "NoSchedule"}]);
    check(&[&[ek]], &[], own, &["foo Equal NoSchedule bar".into(), of(ek)]);
    let same = json!([{"key": ek, "operator": "Exists", "effect": "NoSchedule"}]);
    check(&[&[ek]], &[], same, &[of(ek)]);
    let wider = json!([{"key": ek, "operator": "Exists"}]);
    check(&[&[ek]], &[], wider, &[format!("{ek} Exists"), of(ek)]);
}
