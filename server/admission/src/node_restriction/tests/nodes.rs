//! Writes to the kubelet's node and to other nodes.

use super::*;

const ALLOWED: [&str; 17] = [
    "foo",
    "example.com/foo",
    "kubernetes.io/hostname",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "kubelet.kubernetes.io/foo",
    "foo.kubelet.kubernetes.io/foo",
    "node.kubernetes.io/foo",
    "foo.node.kubernetes.io/foo",
];
const FORBIDDEN: [&str; 8] = [
    "foo.node-restriction.kubernetes.io/foo",
    "k8s.io/foo",
    "kubernetes.io/foo",
    "node-restriction.kubernetes.io/foo",
    "node-role.kubernetes.io/control-plane",
    "other.k8s.io/foo",
    "other.kubernetes.io/foo",
    "xnode.kubernetes.io/foo",
];

fn node(name: &str, spec: Value) -> Value {
    json!({"metadata": {"name": name, "uid": "mynode-uid"}, "spec": spec})
}

fn labelled<'l>(labels: impl IntoIterator<Item = &'l &'l str>, value: &str) -> Value {
    let mut node = node("mynode", json!({}));
    node["metadata"]["labels"] = labels.into_iter().map(|label| ((*label).to_owned(), json!(value))).collect();
    node
}

fn owned(owners: &[&str]) -> Value {
    let mut node = node("mynode", json!({}));
    let owners: Vec<Value> = owners.iter().map(|name| json!({"name": name, "controller": true})).collect();
    node["metadata"]["ownerReferences"] = json!(owners);
    node
}

fn check(operation: Operation, resource: &'static str, new: Option<&Value>, old: Option<&Value>, expected: &str) {
    let world = World::default();
    let name = new.or(old).unwrap()["metadata"]["name"].as_str().unwrap();
    let mut case = Case::new(&world, operation, resource, "", name);
    case.object = new.map(|new| Owned::of(parsed::<Node>(new)));
    case.old = old.map(|old| Owned::of(parsed::<Node>(old)));
    case.check(expected);
}

#[test]
fn own_node() {
    let plain = node("mynode", json!({}));
    let config = |name: &str| {
        node(
            "mynode",
            json!({"configSource": {"configMap": {"name": name, "namespace": "bar", "kubeletConfigKey": "kubelet"}}}),
        )
    };
    let (a, b) = (config("a"), config("b"));
    let taint =
        |value: &str| node("mynode", json!({"taints": [{"key": "mykey", "value": value, "effect": "NoSchedule"}]}));
    let (taint_a, taint_b) = (taint("A"), taint("B"));
    let new_config = "is not allowed to update configSource to a new non-nil configSource";
    let taints = "node \"mynode\" is not allowed to modify taints";
    let owners = "node \"mynode\" is not allowed to modify ownerReferences";
    check(Create, "nodes", Some(&plain), None, "ok");
    check(Create, "nodes", Some(&taint_a), None, "ok");
    check(Create, "nodes", Some(&a), None, "is not allowed to create pods with a non-nil configSource");
    check(Delete, "nodes", None, Some(&plain), "ok");
    let rows = [
        (&plain, &plain, "ok"),
        (&a, &plain, new_config),
        (&b, &a, new_config),
        (&a, &a, "ok"),
        (&plain, &a, "ok"),
        (&taint_a, &taint_a, "ok"),
        (&taint_a, &plain, taints),
        (&plain, &taint_a, taints),
        (&taint_a, &taint_b, taints),
        (&owned(&["a"]), &plain, owners),
        (&plain, &owned(&["a"]), owners),
        (&owned(&["a"]), &owned(&["b"]), owners),
        (&owned(&["a", "b"]), &owned(&["b", "a"]), owners),
        (&owned(&["a"]), &owned(&["a"]), "ok"),
    ];
    for (new, old, expected) in rows {
        for resource in ["nodes", "nodes/status"] {
            check(Update, resource, Some(new), Some(old), expected);
        }
    }
}

#[test]
fn labels_of_own_node() {
    let (none, allowed, forbidden) = (labelled([], ""), labelled(&ALLOWED, "v"), labelled(&FORBIDDEN, "v"));
    let all = labelled(ALLOWED.iter().chain(&FORBIDDEN), "v");
    let (list, set) = (FORBIDDEN.join(", "), "is not allowed to set the following labels: ");
    let (set, modify) = (format!("node \"mynode\" {set}{list}"), format!("is not allowed to modify labels: {list}"));
    check(Create, "nodes", Some(&allowed), None, "ok");
    check(Create, "nodes", Some(&forbidden), None, &set);
    check(Create, "nodes", Some(&all), None, &set);
    let rows = [
        (&allowed, &none, "ok"),
        (&none, &allowed, "ok"),
        (&labelled(&ALLOWED, "w"), &allowed, "ok"),
        (&all, &all, "ok"),
        (&all, &forbidden, "ok"),
        (&forbidden, &all, "ok"),
        (&forbidden, &none, modify.as_str()),
        (&none, &forbidden, modify.as_str()),
        (&labelled(&FORBIDDEN, "w"), &forbidden, modify.as_str()),
        (&labelled(&FORBIDDEN, ""), &none, modify.as_str()),
        (&none, &labelled(&FORBIDDEN, ""), modify.as_str()),
        (&labelled(&FORBIDDEN, ""), &forbidden, modify.as_str()),
        (&all, &none, modify.as_str()),
    ];
    for (new, old, expected) in rows {
        for resource in ["nodes", "nodes/status"] {
            check(Update, resource, Some(new), Some(old), expected);
        }
    }
    for label in FORBIDDEN {
        check(Update, "nodes", Some(&labelled(&[label], "v")), Some(&none), &format!("modify labels: {label}"));
    }
}

#[test]
fn other_nodes() {
    let other = node("othernode", json!({}));
    let expected = "node \"mynode\" is not allowed to modify node \"othernode\"";
    check(Create, "nodes", Some(&other), None, expected);
    check(Update, "nodes", Some(&other), Some(&other), expected);
    check(Delete, "nodes", None, Some(&other), expected);
    check(Update, "nodes/status", Some(&other), Some(&other), expected);
    let world = World::default();
    let unnamed = Case::new(&world, Create, "nodes", "", "").object::<Node>(&other);
    unnamed.check("node \"mynode\" is not allowed to modify node \"\"");
}
