//! Usage of objects and requests that change it, by upstream's tests of the evaluators.

use serde_json::{Value, json};

use super::super::super::testing::{owned, parsed, request};
use super::*;

/// Returns the usage of an object that quotas can limit, as `name=quantity`.
fn used(kind: &'static str, resource: &'static str, object: &Owned) -> Vec<String> {
    let attributes = request(Operation::Create, kind, resource);
    usage(&attributes, object).iter().map(|(name, quantity)| format!("{name}={quantity}")).collect()
}

#[test]
fn usage_of_pods() {
    let check = |pod: Value, expect: &[&str]| assert_eq!(used("Pod", "pods", &owned::<Pod>(&pod)), expect, "{pod}");
    let container = |resources: Value| json!({"name": "c", "resources": resources});
    let one = json!({"requests": {"cpu": "1m"}, "limits": {"cpu": "2m"}});
    let spec = |containers: Value, init: Value| json!({"spec": {"containers": containers, "initContainers": init}});
    check(json!({}), &["count/pods=1", "pods=1"]);
    check(
        spec(json!([container(one.clone())]), json!([])),
        &["count/pods=1", "cpu=1m", "limits.cpu=2m", "pods=1", "requests.cpu=1m"],
    );
    check(
        spec(json!([]), json!([container(one.clone())])),
        &["count/pods=1", "cpu=1m", "limits.cpu=2m", "pods=1", "requests.cpu=1m"],
    );
    check(
        spec(
            json!([container(json!({"requests": {"hugepages-2Mi": "100Mi"}, "limits": {"hugepages-2Mi": "100Mi"}}))]),
            json!([]),
        ),
        &["count/pods=1", "hugepages-2Mi=100Mi", "pods=1", "requests.hugepages-2Mi=100Mi"],
    );
    check(
        spec(
            json!([container(json!({"requests": {"example.com/gpu": "3"}, "limits": {"example.com/gpu": "3"}}))]),
            json!([]),
        ),
        &["count/pods=1", "pods=1", "requests.example.com/gpu=3"],
    );
    let large = container(json!({"requests": {"cpu": "10m"}}));
    let small = container(json!({"requests": {"cpu": "4m"}}));
    check(spec(json!([small, small]), json!([large])), &["count/pods=1", "cpu=10m", "pods=1", "requests.cpu=10m"]);
    check(spec(json!([small, large]), json!([small])), &["count/pods=1", "cpu=14m", "pods=1", "requests.cpu=14m"]);
    for phase in ["Failed", "Succeeded"] {
        check(json!({"spec": {"containers": [container(one.clone())]}, "status": {"phase": phase}}), &["count/pods=1"]);
    }
    check(
        json!({"spec": {"containers": [container(one)], "resources": {"requests": {"cpu": "5m"}}}}),
        &["count/pods=1", "cpu=5m", "limits.cpu=2m", "pods=1", "requests.cpu=5m"],
    );
}

#[test]
fn usage_of_resized_pods() {
    let container = |cpu: &str| json!({"name": "c", "resources": {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}}});
    let has = |cpu: &str, allocated: &str| {
        json!([{"name": "c", "resources": {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}},
                "allocatedResources": {"cpu": allocated}}])
    };
    let infeasible = json!([{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]);
    let check = |spec: Value, status: Value, requests: &str, limits: &str| {
        let pod = owned::<Pod>(&json!({"spec": spec, "status": status}));
        let used = used("Pod", "pods", &pod);
        let expect = [format!("requests.cpu={requests}"), format!("limits.cpu={limits}")];
        assert!(expect.iter().all(|line| used.contains(line)), "{spec} {status}: {used:?}");
    };
    let spec = |cpu: &str| json!({"containers": [container(cpu)]});
    check(spec("2"), json!({"containerStatuses": has("1", "1")}), "2", "2");
    check(spec("1"), json!({"containerStatuses": has("2", "2")}), "2", "2");
    check(spec("1"), json!({"containerStatuses": has("1", "3")}), "3", "1");
    check(spec("4"), json!({"containerStatuses": has("1", "2"), "conditions": infeasible}), "2", "1");
    check(spec("2"), json!({"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "3"}}]}), "2", "2");
    check(
        spec("2"),
        json!({"containerStatuses": [{"name": "other", "resources": {"requests": {"cpu": "9"}}}]}),
        "2",
        "2",
    );
    let mut sidecar = container("1");
    sidecar["restartPolicy"] = json!("Always");
    check(json!({"initContainers": [sidecar]}), json!({"initContainerStatuses": has("2", "2")}), "2", "2");
    check(json!({"initContainers": [container("1")]}), json!({"initContainerStatuses": has("2", "2")}), "1", "1");
}

#[test]
fn usage_of_services() {
    let check = |spec: Value, node_ports: u32, balancers: u32| {
        let service = owned::<Service>(&json!({"spec": spec}));
        let expect = [
            "count/services=1".to_owned(),
            "services=1".to_owned(),
            format!("services.loadbalancers={balancers}"),
            format!("services.nodeports={node_ports}"),
        ];
        assert_eq!(used("Service", "services", &service), expect, "{spec}");
    };
    let ports = json!([{"port": 80}, {"port": 443, "nodePort": 30443}]);
    check(json!({"type": "ClusterIP", "ports": ports}), 0, 0);
    check(json!({"type": "ExternalName"}), 0, 0);
    check(json!({"type": "NodePort", "ports": ports}), 2, 0);
    check(json!({"type": "LoadBalancer", "ports": ports}), 2, 1);
    check(json!({"type": "LoadBalancer", "ports": ports, "allocateLoadBalancerNodePorts": true}), 2, 1);
    check(json!({"type": "LoadBalancer", "ports": ports, "allocateLoadBalancerNodePorts": false}), 1, 1);
    check(json!({"type": "LoadBalancer", "ports": [{"port": 80}], "allocateLoadBalancerNodePorts": false}), 0, 1);
}

#[test]
fn usage_of_volume_claims() {
    let check = |claim: Value, expect: &[&str]| {
        let object = owned::<PersistentVolumeClaim>(&claim);
        assert_eq!(used("PersistentVolumeClaim", "persistentvolumeclaims", &object), expect, "{claim}");
    };
    let spec = |size: &str| json!({"resources": {"requests": {"storage": size}}});
    let counts = ["count/persistentvolumeclaims=1", "persistentvolumeclaims=1"];
    check(json!({}), &counts);
    check(json!({"spec": spec("10Gi")}), &[counts[0], counts[1], "requests.storage=10Gi"]);
    check(json!({"spec": spec("10000m")}), &[counts[0], counts[1], "requests.storage=10"]);
    check(json!({"spec": spec("1500m")}), &[counts[0], counts[1], "requests.storage=2"]);
    let mut gold = spec("1Gi");
    gold["storageClassName"] = "gold".into();
    check(
        json!({"spec": gold}),
        &[
            counts[0],
            "gold.storageclass.storage.k8s.io/persistentvolumeclaims=1",
            "gold.storageclass.storage.k8s.io/requests.storage=1Gi",
            counts[1],
            "requests.storage=1Gi",
        ],
    );
    let allocated = |size: &str| json!({"spec": spec("10Gi"), "status": {"allocatedResources": {"storage": size}}});
    check(allocated("12Gi"), &[counts[0], counts[1], "requests.storage=12Gi"]);
    check(allocated("8Gi"), &[counts[0], counts[1], "requests.storage=10Gi"]);
}

#[test]
fn usage_of_resource_claims() {
    let check = |requests: Value, expect: &[&str]| {
        let claim: ResourceClaim = parsed(&json!({"spec": {"devices": {"requests": requests}}}));
        let mut out = Resources::new();
        of_resource_claim(&claim, &mut out);
        let found: Vec<String> = out.iter().map(|(name, quantity)| format!("{name}={quantity}")).collect();
        assert_eq!(found, expect, "{requests}");
    };
    let exactly = |class: &str, mode: &str, count: i64| json!({"name": "r", "exactly": {"deviceClassName": class, "allocationMode": mode, "count": count}});
    let of = |class: &str, mode: &str, count: i64| json!({"name": "s", "deviceClassName": class, "allocationMode": mode, "count": count});
    check(json!([]), &[]);
    check(json!([exactly("gpu", "ExactCount", 1)]), &["gpu.deviceclass.resource.k8s.io/devices=1"]);
    check(json!([exactly("gpu", "ExactCount", 5)]), &["gpu.deviceclass.resource.k8s.io/devices=5"]);
    check(json!([exactly("gpu", "All", 0)]), &["gpu.deviceclass.resource.k8s.io/devices=32"]);
    check(json!([exactly("gpu", "Unknown", 5)]), &["gpu.deviceclass.resource.k8s.io/devices=0"]);
    check(
        json!([exactly("gpu", "ExactCount", 1), exactly("gpu", "ExactCount", 2), exactly("nic", "ExactCount", 1)]),
        &["gpu.deviceclass.resource.k8s.io/devices=3", "nic.deviceclass.resource.k8s.io/devices=1"],
    );
    check(
        json!([{"name": "r", "firstAvailable": [of("gpu", "ExactCount", 2), of("gpu", "ExactCount", 1), of("nic", "All", 0)]}]),
        &["gpu.deviceclass.resource.k8s.io/devices=2", "nic.deviceclass.resource.k8s.io/devices=32"],
    );
}

#[test]
fn requests_that_change_usage() {
    let empty = owned::<Pod>(&json!({}));
    let deadline = owned::<Pod>(&json!({"spec": {"activeDeadlineSeconds": 5}}));
    let check = |operation, (kind, resource), object: &Owned, old: Option<&Owned>, expect: bool| {
        let attributes = request(operation, kind, resource);
        assert_eq!(is_counted(&attributes, object, old), expect, "{operation:?} {resource}");
    };
    use Operation::{Connect, Create, Delete, Update};
    check(Create, ("Pod", "pods"), &empty, None, true);
    check(Update, ("Pod", "pods"), &empty, Some(&empty), false);
    check(Update, ("Pod", "pods"), &deadline, Some(&empty), true);
    check(Update, ("Pod", "pods"), &empty, Some(&deadline), true);
    check(Update, ("Pod", "pods"), &deadline, Some(&deadline), false);
    check(Update, ("Pod", "pods/resize"), &empty, Some(&empty), true);
    check(Update, ("Pod", "pods/status"), &empty, Some(&empty), false);
    check(Update, ("Pod", "pods/ephemeralcontainers"), &empty, Some(&empty), false);
    check(Create, ("Binding", "pods/binding"), &empty, None, false);
    check(Create, ("Binding", "bindings"), &empty, None, false);
    check(Connect, ("Pod", "pods/exec"), &empty, None, false);
    check(Delete, ("Pod", "pods"), &empty, None, false);
    check(Create, ("Event", "events"), &empty, None, false);
    check(Create, ("Namespace", "namespaces"), &empty, None, false);
    check(Create, ("Service", "services"), &empty, None, true);
    check(Update, ("Service", "services"), &empty, Some(&empty), true);
    check(Update, ("Service", "services/status"), &empty, Some(&empty), false);
    check(Update, ("PersistentVolumeClaim", "persistentvolumeclaims"), &empty, Some(&empty), true);
    check(Update, ("PersistentVolumeClaim", "persistentvolumeclaims/status"), &empty, Some(&empty), true);
    check(Create, ("ConfigMap", "configmaps"), &empty, None, true);
    check(Update, ("ConfigMap", "configmaps"), &empty, Some(&empty), false);
}

#[test]
fn resources_that_a_quota_counts() {
    let hard = [
        "count/pods",
        "count/services",
        "cpu",
        "memory",
        "pods",
        "requests.cpu",
        "limits.memory",
        "services",
        "services.nodeports",
        "requests.storage",
        "hugepages-2Mi",
        "requests.hugepages-2Mi",
        "requests.example.com/gpu",
        "gold.storageclass.storage.k8s.io/requests.storage",
        "configmaps",
        "gpu.deviceclass.resource.k8s.io/devices",
    ];
    let hard: BTreeMap<String, Quantity> = hard.iter().map(|name| ((*name).to_owned(), one())).collect();
    let check = |kind, resource, expect: &[&str]| {
        let attributes = request(Operation::Create, kind, resource);
        assert_eq!(matching(&attributes, &hard).collect::<Vec<_>>(), expect, "{resource}");
    };
    check(
        "Pod",
        "pods",
        &[
            "count/pods",
            "cpu",
            "hugepages-2Mi",
            "limits.memory",
            "memory",
            "pods",
            "requests.cpu",
            "requests.example.com/gpu",
            "requests.hugepages-2Mi",
        ],
    );
    check("Service", "services", &["count/services", "services", "services.nodeports"]);
    check(
        "PersistentVolumeClaim",
        "persistentvolumeclaims",
        &["gold.storageclass.storage.k8s.io/requests.storage", "requests.storage"],
    );
    check("ConfigMap", "configmaps", &["configmaps"]);
    check("Secret", "secrets", &[]);
}

#[test]
fn containers_must_specify_counted_resources() {
    let required = ["cpu", "requests.memory", "limits.cpu", "pods", "requests.example.com/gpu"];
    let check = |spec: Value, expect: &str| {
        let found = constraints(&required, &owned::<Pod>(&json!({"spec": spec})))
            .map_or_else(|refusal| refusal.to_string(), |()| String::new());
        assert_eq!(found, expect, "{spec}");
    };
    let full = json!({"requests": {"cpu": "1", "memory": "1"}, "limits": {"cpu": "1"}});
    check(json!({}), "");
    check(json!({"containers": [{"name": "a", "resources": full}]}), "");
    check(
        json!({"containers": [{"name": "b"}, {"name": "a"}, {"name": "c", "resources": full}]}),
        "must specify cpu for: a,b; limits.cpu for: a,b; requests.memory for: a,b",
    );
    check(
        json!({"containers": [{"name": "a", "resources": full}], "initContainers": [{"name": "i", "resources": {"requests": {"cpu": "1"}}}]}),
        "must specify limits.cpu for: i; requests.memory for: i",
    );
    check(json!({"containers": [{"name": "a"}], "resources": {"requests": {"cpu": "1"}}}), "");
    check(
        json!({"containers": [{"name": "a"}], "resources": {"requests": {"example.com/gpu": "1"}}}),
        "must specify cpu for: a; limits.cpu for: a; requests.memory for: a",
    );
}

#[test]
fn only_increases_are_charged() {
    let resources = |text: &str| -> Resources {
        let pair = |pair: &str| pair.split_once('=').map(|(name, value)| (name.to_owned(), value.parse().unwrap()));
        text.split_whitespace().filter_map(pair).collect()
    };
    let check = |wanted: &str, counted: Option<&str>, expect: &str| {
        let counted = counted.map(resources);
        assert_eq!(increase(&resources(wanted), counted.as_ref()), resources(expect), "{wanted} after {counted:?}");
    };
    check("cpu=2 pods=1", None, "cpu=2 pods=1");
    check("cpu=2 pods=1", Some("cpu=1 pods=1"), "cpu=1");
    check("cpu=1 pods=1", Some("cpu=2 pods=1"), "");
    check("cpu=1 memory=1", Some("cpu=1"), "memory=1");
    check("cpu=0", None, "");
}
