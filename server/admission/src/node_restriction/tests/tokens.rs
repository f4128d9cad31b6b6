//! Service account tokens.

use generated::authentication::v1::TokenRequest;
use generated::core::v1::{PersistentVolume, PersistentVolumeClaim};
use generated::storage::v1::CSIDriver;

use super::super::lookup::{CLAIMS, CSI_DRIVERS, VOLUMES};
use super::*;

fn request(pod: &str, uid: &str, audiences: &[&str]) -> Value {
    let bound = json!({"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": uid});
    json!({"spec": {"audiences": audiences, "boundObjectRef": if pod.is_empty() { Value::Null } else { bound }}})
}

/// A pod with one volume of each type that can request tokens, with the audience `foo`.
fn world() -> World {
    let mut world = World::with_pods();
    let mut add = |name: &str, volumes: Value| {
        world.add::<Pod>(
            PODS,
            json!({"metadata": {"namespace": "ns", "name": name, "uid": "pod-uid"}, "spec": {"nodeName": "mynode", "volumes": volumes}}),
        );
    };
    let token = |audience: &str| json!({"projected": {"sources": [{"serviceAccountToken": {"audience": audience, "path": "t"}}]}});
    let claim = |name: &str| json!({"persistentVolumeClaim": {"claimName": name}});
    let csi = |driver: &str| json!({"csi": {"driver": driver}});
    add("projected", json!([token("foo")]));
    add("default", json!([token("")]));
    add("csi", json!([csi("with.tokens")]));
    add("nodriver", json!([csi("missing")]));
    add("claim", json!([claim("data")]));
    add("noclaim", json!([claim("missing")]));
    add("novolume", json!([claim("unbound")]));
    add("ephemeral", json!([{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]));
    add("noclaim-csi", json!([claim("missing"), csi("with.tokens")]));
    add("two-missing", json!([claim("missing"), csi("missing")]));
    add("azure", json!([{"azureFile": {"shareName": "s", "secretName": "x"}}]));
    add("azureclaim", json!([claim("azure")]));
    for (claim, volume) in [("data", "disk"), ("ephemeral-scratch", "disk"), ("azure", "share"), ("unbound", "")] {
        let document = json!({"metadata": {"namespace": "ns", "name": claim}, "spec": {"volumeName": volume}});
        world.add::<PersistentVolumeClaim>(CLAIMS, document);
    }
    for (name, source) in [
        ("disk", json!({"csi": {"driver": "with.tokens", "volumeHandle": "h"}})),
        ("share", json!({"azureFile": {"shareName": "s", "secretName": "x"}})),
    ] {
        world.add::<PersistentVolume>(VOLUMES, json!({"metadata": {"name": name}, "spec": source}));
    }
    for name in ["with.tokens", "file.csi.azure.com"] {
        let document = json!({"metadata": {"name": name}, "spec": {"tokenRequests": [{"audience": "foo"}]}});
        world.add::<CSIDriver>(CSI_DRIVERS, document);
    }
    world
}

fn answer(world: &World, restricted: bool, request: &Value) -> String {
    let mut case = Case::new(world, Create, "serviceaccounts/token", "ns", "mysa").object::<TokenRequest>(request);
    case.gates.audience_restriction = restricted;
    case.answer()
}

#[test]
fn requires_tokens_bound_to_pods_of_the_node() {
    let world = world();
    let bound = |field: &str, value: &str| {
        let mut request = request("mypod", "pod-uid", &[]);
        request["spec"]["boundObjectRef"][field] = json!(value);
        request
    };
    for (request, expected) in [
        (request("", "", &["foo"]), "node requested token not bound to a pod"),
        (bound("kind", "Node"), "node requested token not bound to a pod"),
        (bound("kind", "Secret"), "node requested token not bound to a pod"),
        (bound("apiVersion", "v2"), "node requested token not bound to a pod"),
        (bound("name", ""), "node requested token not bound to a pod"),
        (request("nopod", "someuid", &["foo"]), "404 pod \"nopod\" not found"),
        (request("mypod", "", &["foo"]), "node requested token with a pod binding without a uid"),
        (request("mypod", "other", &["foo"]), "the UID in the bound object reference (other) does not match the UID"),
        (request("otherpod", "pod-uid", &["foo"]), "node requested token bound to a pod scheduled on a different node"),
        (request("unboundpod", "pod-uid", &["foo"]), "bound to a pod scheduled on a different node"),
        (request("mypod", "pod-uid", &["foo"]), "ok"),
    ] {
        let found = answer(&world, false, &request);
        assert!(found.contains(expected), "{request}: {found}");
    }
    // Other verbs on service accounts are checked by the node authorizer.
    for operation in [Update, Delete] {
        Case::new(&world, operation, "serviceaccounts/token", "ns", "mysa").check("ok");
        Case::new(&world, operation, "serviceaccounts", "ns", "mysa").check("ok");
    }
}

#[test]
fn requires_audiences_that_the_pod_uses() {
    let world = world();
    let refused = |audience: &str| {
        format!(
            "serviceaccounts \"mysa\" is forbidden: audience \"{audience}\" not found in pod spec volume, system:node:mynode is not authorized to request tokens for this audience"
        )
    };
    let invalid =
        |why: &str| format!("serviceaccounts \"mysa\" is forbidden: error validating audience \"foo\": {why}");
    let (claim, driver) =
        ("persistentvolumeclaim \"missing\" not found", "csidriver.storage.k8s.io \"missing\" not found");
    let rows = [
        ("default", &[][..], None),
        ("default", &[""], None),
        ("default", &["foo"], Some(refused("foo"))),
        ("projected", &["foo"], None),
        ("projected", &["bar"], Some(refused("bar"))),
        ("projected", &[], Some(refused(""))),
        (
            "projected",
            &["foo", "bar"],
            Some("serviceaccounts \"mysa\" is forbidden: node may only request 0 or 1 audiences".into()),
        ),
        ("mypod", &["foo"], Some(refused("foo"))),
        ("csi", &["foo"], None),
        ("csi", &["bar"], Some(refused("bar"))),
        ("nodriver", &["foo"], Some(invalid(driver))),
        ("claim", &["foo"], None),
        ("claim", &["bar"], Some(refused("bar"))),
        ("noclaim", &["foo"], Some(invalid(claim))),
        ("novolume", &["foo"], Some(invalid("persistentvolume \"\" not found"))),
        ("ephemeral", &["foo"], None),
        ("ephemeral", &["bar"], Some(refused("bar"))),
        ("noclaim-csi", &["foo"], None),
        ("two-missing", &["foo"], Some(invalid(&format!("[{claim}, {driver}]")))),
        ("azure", &["foo"], None),
        ("azure", &["bar"], Some(refused("bar"))),
        ("azureclaim", &["foo"], None),
        ("azureclaim", &["bar"], Some(refused("bar"))),
    ];
    for (pod, audiences, refusal) in rows {
        let request = request(pod, "pod-uid", audiences);
        let expected = refusal.map_or("ok".to_owned(), |why| format!("403 {why}"));
        assert_eq!(answer(&world, true, &request), expected, "{pod} {audiences:?}");
        assert_eq!(answer(&world, false, &request), "ok", "{pod} {audiences:?} without the gate");
    }
    let granted = World { audiences: vec!["foo"], ..World::with_pods() };
    assert_eq!(answer(&granted, true, &request("mypod", "pod-uid", &["foo"])), "ok");
    assert_eq!(answer(&granted, true, &request("mypod", "pod-uid", &["bar"])), format!("403 {}", refused("bar")));
}
