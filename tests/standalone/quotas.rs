//! Usage of quotas.

use needs::needs;
use serde_json::{Value, json};

use super::{definition, eventually, start, widget};

#[needs(kubectl)]
#[test]
fn usage_of_quotas_decreases() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    kubectl.apply(&definition());
    kubectl.run(&["wait", "--for=condition=Established", "crd/widgets.example.com"]);
    let hard = "pods=3,configmaps=10,requests.cpu=2,count/widgets.example.com=5,count/made.up=1";
    kubectl.run(&["create", "quota", "limits", &format!("--hard={hard}")]);
    let used = |name: &str| kubectl.json(&["get", "quota", "limits"])["status"]["used"][name].clone();
    // The certificate of the namespace is a config map.
    eventually("the count", || (used("configmaps") == "1").then_some(()));
    assert_eq!((used("pods"), used("count/made.up")), ("0".into(), Value::Null));
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"containers": [{"name": "a", "image": "a", "resources": {"requests": {"cpu": "500m"}}}]},
    });
    kubectl.apply(&pod);
    kubectl.run(&["create", "configmap", "settings"]);
    kubectl.apply(&widget("default", "a", &[]));
    eventually("the charge", || {
        let all = (used("pods"), used("requests.cpu"), used("configmaps"), used("count/widgets.example.com"));
        (all == ("1".into(), "500m".into(), "2".into(), "1".into())).then_some(())
    });
    kubectl.run(&["delete", "pod/web", "configmap/settings", "widget/a"]);
    eventually("the recount", || {
        let all = (used("pods"), used("requests.cpu"), used("configmaps"), used("count/widgets.example.com"));
        (all == ("0".into(), "0".into(), "1".into(), "0".into())).then_some(())
    });
}

/// Admission charges an object before the object is stored. A count at each charge would not find
/// the last object.
#[needs(kubectl)]
#[test]
fn charges_remain_in_quotas_with_a_limit_that_nothing_counts() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    kubectl.run(&["create", "quota", "limits", "--hard=configmaps=100,count/made.up=1"]);
    let used = || kubectl.json(&["get", "quota", "limits"])["status"]["used"]["configmaps"].clone();
    eventually("the count", || (used() == "1").then_some(()));
    let names = (0..30).map(|number| json!({"name": format!("settings-{number}"), "namespace": "default"}));
    let items: Vec<Value> =
        names.map(|metadata| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})).collect();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    kubectl.run_with(&["create", "-f", "-"], &list.to_string());
    eventually("the charge of all", || (used() == "31").then_some(()));
}
