//! Pull policies of pods, by upstream's tests of the plugin.

use serde_json::{Value, json};

use super::super::testing::{owned, request};
use super::*;

fn pod(spec: Value) -> Value {
    json!({"metadata": {"name": "one"}, "spec": spec})
}

/// Returns the pull policies of a pod after the plugin, in order of containers, then image volumes.
fn policies(operation: Operation, resource: &'static str, spec: Value, old: Option<Value>) -> Vec<String> {
    let attributes = request(operation, "Pod", resource);
    let mut object = owned::<Pod>(&pod(spec));
    let old = old.map(|old| owned::<Pod>(&pod(old)));
    admit(&attributes, &mut object, old.as_ref()).unwrap();
    let spec = &object.downcast_ref::<Pod>().unwrap().spec;
    let containers = spec.init_containers.iter().chain(&spec.containers).map(|c| c.image_pull_policy.clone());
    let ephemeral = spec.ephemeral_containers.iter().map(|c| c.ephemeral_container_common.image_pull_policy.clone());
    let volumes = spec.volumes.iter().filter_map(|v| Some(v.volume_source.image.as_ref()?.pull_policy.clone()));
    containers.chain(ephemeral).chain(volumes).collect()
}

#[test]
fn sets_policy_of_new_containers() {
    let policies_of = ["", "Never", "IfNotPresent", "Always"];
    let list: Vec<Value> = policies_of.iter().map(|policy| json!({"image": "i", "imagePullPolicy": policy})).collect();
    let volumes: Vec<Value> = policies_of.iter().map(|policy| json!({"image": {"pullPolicy": policy}})).collect();
    let all = json!({"initContainers": list, "containers": list, "volumes": volumes});
    assert_eq!(policies(Operation::Create, "pods", all, None), ["Always"; 12]);

    let one = |image: &str| json!({"containers": [{"image": image, "imagePullPolicy": "IfNotPresent"}]});
    let same = policies(Operation::Update, "pods", one("i"), Some(one("i")));
    assert_eq!(same, ["IfNotPresent"], "an update without a new image");
    assert_eq!(policies(Operation::Update, "pods", one("j"), Some(one("i"))), ["Always"]);

    let debug = |names: &[&str]| {
        let one = |name: &&str| json!({"name": name, "image": "i", "imagePullPolicy": "Never"});
        let debuggers: Vec<Value> = names.iter().map(one).collect();
        json!({"containers": [{"image": "i", "imagePullPolicy": "Never"}], "ephemeralContainers": debuggers})
    };
    let added = policies(Operation::Update, "pods/ephemeralcontainers", debug(&["a", "b"]), Some(debug(&["a"])));
    assert_eq!(added, ["Never", "Never", "Always"], "only the ephemeral container that is added");
}

#[test]
fn rejects_other_policies() {
    let check = |spec: Value, expect: &[&str]| {
        let object = owned::<Pod>(&pod(spec));
        let errors = validate(&request(Operation::Create, "Pod", "pods"), &object, None).err();
        let one = |at: &&str| {
            let (path, value) = at.split_once('=').unwrap();
            format!(
                "pods \"one\" is forbidden: spec.{path}: Unsupported value: \"{value}\": supported values: \"Always\""
            )
        };
        let expect: Vec<String> = expect.iter().map(one).collect();
        assert_eq!(errors.map(|status| status.message), (!expect.is_empty()).then(|| joined(&expect)));
    };
    let list = json!([{"imagePullPolicy": "Always"}, {"imagePullPolicy": ""}, {"imagePullPolicy": "Never"}]);
    check(json!({"containers": [{"imagePullPolicy": "Always"}]}), &[]);
    check(
        json!({"initContainers": list, "containers": list, "volumes": [{"image": {"pullPolicy": "IfNotPresent"}}]}),
        &[
            "initContainers[1].imagePullPolicy=",
            "initContainers[2].imagePullPolicy=Never",
            "containers[1].imagePullPolicy=",
            "containers[2].imagePullPolicy=Never",
            "volumes[0].image.pullPolicy=IfNotPresent",
        ],
    );
}

#[test]
fn rejects_bodies_that_are_not_pods() {
    let mut service = owned::<generated::core::v1::Service>(&json!({}));
    let attributes = request(Operation::Create, "Pod", "pods");
    assert_eq!(admit(&attributes, &mut service, None).unwrap_err().code, 400);
    assert_eq!(validate(&attributes, &service, None).unwrap_err().code, 400);
}
