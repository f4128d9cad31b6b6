//! Endpoints and endpoint slices of services, beside those of kube-controller-manager.

use std::time::{Duration, Instant};

use http::Request;
use kube::Client;
use needs::needs;
use serde_json::{Value, json};

use crate::DEADLINE;
use crate::client;
use crate::common::Server;
use crate::lease::Manager;

/// The controllers under test.
const CONTROLLERS: &str =
    "--controllers=endpoints-controller,endpointslice-controller,endpointslice-mirroring-controller";
const RANGES: &str = "--service-cluster-ip-range=10.0.0.0/24,fd00:10::/112";
pub const CORE: &str = "/api/v1/namespaces/default";
pub const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
/// Number of pods of the service `big`.
const BIG: usize = 120;

/// A server and a client of it.
pub struct Cluster {
    pub server: Server,
    client: Client,
    _folder: tempfile::TempDir,
}

impl Cluster {
    pub async fn start(controllers: &str) -> Cluster {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start_with(folder.path(), &[controllers, RANGES]);
        Cluster { client: client::connect(&server).await, server, _folder: folder }
    }

    pub async fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = Request::builder().method(method).uri(path).header("Content-Type", kind).body(body).unwrap();
        match self.client.request::<Value>(request).await {
            Ok(answer) => answer,
            Err(why) => panic!("{method} {path}: {why}"),
        }
    }

    pub async fn create(&self, plural: &str, object: &Value) {
        let path = if plural == "nodes" { "/api/v1/nodes".to_owned() } else { format!("{CORE}/{plural}") };
        self.send("POST", &path, object).await;
    }

    pub async fn patch(&self, path: &str, change: &Value) {
        self.send("PATCH", &format!("{CORE}/{path}"), change).await;
    }

    /// Creates a pod and sets its status.
    pub async fn pod(&self, name: &str, app: &str, spec: &Value, status: &Value) {
        let mut whole = json!({"containers": [{"name": "c", "image": "i"}], "terminationGracePeriodSeconds": 600});
        spec.as_object().unwrap().iter().for_each(|(key, value)| whole[key] = value.clone());
        let pod = json!({"metadata": {"name": name, "labels": {"app": app}}, "spec": whole});
        self.create("pods", &pod).await;
        self.patch(&format!("pods/{name}/status"), &json!({"status": status})).await;
    }

    pub async fn items(&self, path: &str) -> Vec<Value> {
        self.send("GET", path, &Value::Null).await["items"].as_array().unwrap().clone()
    }

    /// The endpoints and slices of each service.
    async fn state(&self) -> Value {
        let mut state = json!({});
        for endpoints in self.items(&format!("{CORE}/endpoints")).await {
            let name = endpoints["metadata"]["name"].as_str().unwrap().to_owned();
            state[&name]["endpoints"] = comparable_endpoints(endpoints);
        }
        for slice in self.items(SLICES).await {
            let name = slice["metadata"]["labels"]["kubernetes.io/service-name"].as_str().unwrap().to_owned();
            add_slice(&mut state[&name]["slices"], slice);
        }
        // Neither controller has part in it.
        state.as_object_mut().unwrap().remove("kubernetes");
        state
    }

    /// Waits until all services have endpoints as in a table.
    async fn reach(&self, table: &[Row]) -> Value {
        let begin = Instant::now();
        loop {
            let state = self.state().await;
            let wrong = table.iter().find(|row| !row.is_in(&state));
            let Some(wrong) = wrong.map(Row::text) else { return state };
            assert!(begin.elapsed() < DEADLINE, "{wrong} did not happen: {state:#}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

/// The expected endpoints of a service: its name, the numbers of ready and other addresses of its
/// endpoints, if it has some, and the numbers of endpoints of its slices.
struct Row(&'static str, Option<(usize, usize)>, &'static [usize]);

impl Row {
    fn text(&self) -> String {
        format!("{}: {:?}, {:?}", self.0, self.1, self.2)
    }

    fn is_in(&self, state: &Value) -> bool {
        let Row(name, addresses, slices) = self;
        let of = &state[name];
        let count = |kind: &str| -> usize {
            let subsets = of["endpoints"]["subsets"].as_array().into_iter().flatten();
            subsets.map(|subset| subset[kind].as_array().map_or(0, Vec::len)).sum()
        };
        let found = of["endpoints"].is_object().then(|| (count("addresses"), count("notReadyAddresses")));
        let groups = of["slices"].as_object().into_iter().flatten();
        let mut sizes: Vec<u64> = groups
            .flat_map(|(_, group)| group["sizes"].as_array().unwrap())
            .map(|size| size.as_u64().unwrap())
            .collect();
        sizes.sort_unstable();
        found == *addresses && sizes == slices.iter().map(|size| *size as u64).collect::<Vec<_>>()
    }
}

/// Removes what differs between clusters: identities, versions, and times.
fn comparable_metadata(metadata: &mut Value) {
    let metadata = metadata.as_object_mut().unwrap();
    for key in ["uid", "resourceVersion", "creationTimestamp", "generation"] {
        metadata.remove(key);
    }
    if let Some(managers) = metadata.get_mut("managedFields").and_then(Value::as_array_mut) {
        // The name of the program, which may have a version.
        let is_own = |entry: &Value| entry["manager"].as_str().unwrap().starts_with("kube-controller-manager");
        managers.iter_mut().for_each(|entry| *entry = json!({"own": is_own(entry), "operation": entry["operation"]}));
    }
    if let Some(owners) = metadata.get_mut("ownerReferences").and_then(Value::as_array_mut) {
        owners.iter_mut().for_each(|owner| owner["uid"] = "".into());
    }
    // The time, and whether a write has one, depend on which changes fall together.
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
        annotations.remove("endpoints.kubernetes.io/last-change-trigger-time");
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
}

fn comparable_endpoints(mut endpoints: Value) -> Value {
    comparable_metadata(&mut endpoints["metadata"]);
    endpoints.sort_all_objects();
    if let Some(subsets) = endpoints["subsets"].as_array_mut() {
        for subset in subsets.iter_mut() {
            for kind in ["addresses", "notReadyAddresses"] {
                let addresses = subset.get_mut(kind).and_then(Value::as_array_mut).into_iter().flatten();
                addresses.for_each(forget_target);
            }
        }
        // Their order depends on uids.
        subsets.sort_by_key(Value::to_string);
    }
    endpoints
}

/// Removes the uid of a target.
fn forget_target(endpoint: &mut Value) {
    if let Some(target) = endpoint.get_mut("targetRef").and_then(Value::as_object_mut) {
        target.remove("uid");
    }
}

/// Adds a slice to its group. Upstream distributes the endpoints of a group at random.
fn add_slice(groups: &mut Value, mut slice: Value) {
    comparable_metadata(&mut slice["metadata"]);
    // The name is random. An update drops the field from which it was made.
    for key in ["name", "generateName"] {
        slice["metadata"].as_object_mut().unwrap().remove(key);
    }
    let mut endpoints = match slice["endpoints"].take() {
        Value::Array(endpoints) => endpoints,
        _ => Vec::new(),
    };
    endpoints.iter_mut().for_each(forget_target);
    // The order of members is that of the requests that wrote them.
    slice.sort_all_objects();
    let group = &mut groups[slice.to_string()];
    let mut all = |key: &str, new: Vec<Value>| {
        let mut known = group[key].as_array().cloned().unwrap_or_default();
        known.extend(new);
        known.sort_by_key(|value| (value.as_u64(), value.to_string()));
        group[key] = known.into();
    };
    all("sizes", vec![endpoints.len().into()]);
    all("endpoints", endpoints);
}

pub fn ready(is_ready: bool) -> Value {
    let status = if is_ready { "True" } else { "False" };
    json!([{"type": "Ready", "status": status, "lastTransitionTime": "2026-01-01T00:00:00Z"}])
}

/// The status of a pod with addresses.
pub fn running(at: usize, is_ready: bool) -> Value {
    let (v4, v6) = (format!("10.1.{}.{}", at / 256, at % 256), format!("fd00:1::{at:x}"));
    json!({"phase": "Running", "podIP": v4, "podIPs": [{"ip": v4}, {"ip": v6}], "conditions": ready(is_ready)})
}

/// Creates the nodes and pods.
async fn create_pods(cluster: &Cluster) {
    for (name, zone) in [("a", Some("za")), ("b", Some("zb")), ("c", None)] {
        let labels = zone.map_or(json!({}), |zone| json!({"topology.kubernetes.io/zone": zone}));
        cluster.create("nodes", &json!({"metadata": {"name": name, "labels": labels}})).await;
    }
    let port = |number: u16| json!({"name": "http", "containerPort": number});
    let container = |port: Value| json!([{"name": "c", "image": "i", "ports": [port]}]);
    let dns = json!({"name": "dns", "containerPort": 5353, "protocol": "UDP"});
    let sidecar = json!([{"name": "s", "image": "i", "restartPolicy": "Always", "ports": [port(8081)]}]);
    let plain = container(port(8080));
    let pods = [
        ("web-1", json!({"nodeName": "a", "containers": plain}), running(1, true)),
        (
            "web-2",
            json!({"nodeName": "b", "containers": container(port(9090)), "hostname": "two", "subdomain": "headless"}),
            running(2, true),
        ),
        ("web-3", json!({"nodeName": "c", "containers": plain}), running(3, false)),
        ("web-4", json!({"nodeName": "a", "containers": plain}), json!({"phase": "Pending"})),
        ("web-5", json!({"nodeName": "a", "containers": plain}), json!({"phase": "Failed", "podIP": "10.1.0.5"})),
        ("web-6", json!({"nodeName": "a", "containers": plain}), running(6, true)),
        ("web-7", json!({"nodeName": "absent", "containers": plain}), running(7, true)),
        ("web-9", json!({"nodeName": "b", "initContainers": sidecar}), running(9, true)),
        ("web-10", json!({"nodeName": "b", "containers": container(dns)}), running(10, true)),
    ];
    for (name, spec, status) in pods {
        cluster.pod(name, "web", &spec, &status).await;
    }
    cluster.send("DELETE", &format!("{CORE}/pods/web-6"), &Value::Null).await;
    cluster.pod("unscheduled", "unscheduled", &json!({}), &running(8, true)).await;
    for at in 0..BIG {
        cluster.pod(&format!("big-{at}"), "big", &json!({"nodeName": "a"}), &running(1000 + at, at % 2 == 0)).await;
    }
}

/// Creates the services, and the endpoints of those without a selector.
async fn create_services(cluster: &Cluster) {
    let web = json!({"app": "web"});
    let named = json!([{"name": "web", "port": 80, "targetPort": "http"}]);
    let several = json!([
        {"name": "web", "port": 80, "targetPort": 8080, "appProtocol": "kubernetes.io/h2c"},
        {"name": "tls", "port": 443, "targetPort": "http"},
        {"name": "dns", "port": 53, "targetPort": "dns", "protocol": "UDP"},
    ]);
    let services = [
        ("plain", json!({"selector": web, "ports": named})),
        ("several", json!({"selector": web, "ports": several})),
        ("headless", json!({"selector": web, "ports": named, "clusterIP": "None"})),
        ("portless", json!({"selector": web, "clusterIP": "None"})),
        ("published", json!({"selector": web, "ports": named, "publishNotReadyAddresses": true})),
        ("dual", json!({"selector": web, "ports": named, "ipFamilyPolicy": "RequireDualStack"})),
        ("v6", json!({"selector": web, "ports": named, "ipFamilies": ["IPv6"]})),
        ("zones", json!({"selector": web, "ports": named, "trafficDistribution": "PreferClose"})),
        ("nodes", json!({"selector": web, "ports": named, "trafficDistribution": "PreferSameNode"})),
        ("external", json!({"selector": web, "type": "ExternalName", "externalName": "example.com"})),
        ("empty", json!({"selector": {"app": "made-up"}, "ports": named})),
        ("big", json!({"selector": {"app": "big"}, "ports": [{"port": 80}]})),
        (
            "unscheduled",
            json!({"selector": {"app": "unscheduled"}, "ports": [{"port": 80}], "publishNotReadyAddresses": true}),
        ),
        ("mirrored", json!({"ports": named})),
        ("skipped", json!({"ports": named})),
    ];
    for (name, spec) in services {
        let labels = json!({"of": name, "kubernetes.io/service-name": "other"});
        cluster.create("services", &json!({"metadata": {"name": name, "labels": labels}, "spec": spec})).await;
    }
    let subsets = json!([{
        "addresses": [{"ip": "10.2.0.1", "hostname": "one", "nodeName": "a"}, {"ip": "fd00:2::1"}],
        "notReadyAddresses": [{"ip": "10.2.0.2"}],
        "ports": [{"name": "web", "port": 8080}, {"name": "other", "port": 8081, "protocol": "UDP"}],
    }, {"addresses": [{"ip": "10.2.0.3"}], "ports": [{"name": "web", "port": 9090}]}]);
    for (name, labels) in
        [("mirrored", json!({"a": "b"})), ("skipped", json!({"endpointslice.kubernetes.io/skip-mirror": "true"}))]
    {
        let metadata = json!({"name": name, "labels": labels, "annotations": {"c": "d"}});
        cluster.create("endpoints", &json!({"metadata": metadata, "subsets": subsets})).await;
    }
}

/// The endpoints after the creation. Those of `unscheduled` are invalid, because its pod has no node.
const CREATED: &[Row] = &[
    Row("plain", Some((4, 1)), &[1, 1, 1, 3]),
    Row("several", Some((10, 2)), &[1, 1, 1, 3]),
    Row("headless", Some((4, 1)), &[1, 1, 1, 3]),
    Row("portless", Some((5, 1)), &[6]),
    Row("published", Some((6, 0)), &[1, 1, 1, 4]),
    Row("dual", Some((4, 1)), &[1, 1, 1, 1, 1, 1, 3, 3]),
    Row("v6", Some((4, 1)), &[1, 1, 1, 3]),
    Row("zones", Some((4, 1)), &[1, 1, 1, 3]),
    Row("nodes", Some((4, 1)), &[1, 1, 1, 3]),
    Row("external", None, &[]),
    Row("empty", Some((0, 0)), &[0]),
    Row("big", Some((60, 60)), &[20, 100]),
    Row("unscheduled", None, &[1]),
    Row("mirrored", Some((3, 1)), &[1, 1, 2]),
    Row("skipped", Some((3, 1)), &[]),
];

/// Changes pods, services, endpoints and slices.
async fn change(cluster: &Cluster) {
    cluster.patch("pods/web-3/status", &json!({"status": {"conditions": ready(true)}})).await;
    cluster.patch("pods/web-2", &json!({"metadata": {"labels": {"app": "none"}}})).await;
    cluster.send("DELETE", &format!("{CORE}/pods/web-1"), &json!({"gracePeriodSeconds": 0})).await;
    cluster.create("nodes", &json!({"metadata": {"name": "absent"}})).await;
    cluster.patch("services/headless", &json!({"metadata": {"labels": {"more": "labels"}}})).await;
    cluster.patch("services/empty", &json!({"spec": {"selector": {"app": "none"}}})).await;
    cluster.patch("services/zones", &json!({"spec": {"trafficDistribution": null}})).await;
    cluster.patch("services/mirrored", &json!({"spec": {"ports": [{"port": 81}]}})).await;
    cluster.patch("endpoints/skipped", &json!({"metadata": {"labels": null}})).await;
    cluster
        .patch("endpoints/mirrored", &json!({"subsets": [{"addresses": [{"ip": "10.2.0.9"}], "ports": [{"port": 1}]}]}))
        .await;
    for name in ["portless", "v6"] {
        cluster.send("DELETE", &format!("{CORE}/services/{name}"), &Value::Null).await;
    }
    // Nothing else deletes the slices here: the garbage collector does not run.
    for name in ["portless", "v6", "published"] {
        let selector = format!("{SLICES}?labelSelector=kubernetes.io/service-name={name}");
        cluster.send("DELETE", &selector, &Value::Null).await;
    }
}

/// The endpoints after the changes.
const CHANGED: &[Row] = &[
    Row("plain", Some((3, 0)), &[1, 1, 3]),
    Row("several", Some((8, 0)), &[1, 1, 3]),
    Row("headless", Some((3, 0)), &[1, 1, 3]),
    Row("portless", None, &[]),
    Row("published", Some((4, 0)), &[1, 1, 3]),
    Row("dual", Some((3, 0)), &[1, 1, 1, 1, 3, 3]),
    Row("v6", None, &[]),
    Row("zones", Some((3, 0)), &[1, 1, 3]),
    Row("nodes", Some((3, 0)), &[1, 1, 3]),
    Row("empty", Some((1, 0)), &[1]),
    Row("big", Some((60, 60)), &[20, 100]),
    Row("mirrored", Some((1, 0)), &[1]),
    Row("skipped", Some((3, 1)), &[1, 1, 2]),
];

/// Removes the selector of a service.
async fn release(cluster: &Cluster) {
    cluster.patch("services/several", &json!({"spec": {"selector": null}})).await;
}

/// The endpoints of that service, which stay, and become those of users.
const RELEASED: &[Row] = &[Row("several", Some((8, 0)), &[1, 1, 1, 1, 2, 3, 4])];

#[tokio::test]
async fn services_have_endpoints_and_slices_of_their_pods() {
    let cluster = Cluster::start(CONTROLLERS).await;
    cluster.create("serviceaccounts", &json!({"metadata": {"name": "default"}})).await;
    // Pods that come one by one may be packed less tightly.
    create_pods(&cluster).await;
    create_services(&cluster).await;
    cluster.reach(CREATED).await;
    let events = cluster.items(&format!("{CORE}/events")).await;
    let missing = "Error updating Endpoint Slices for Service default/plain";
    assert!(events.iter().any(|event| event["message"].as_str().unwrap().starts_with(missing)), "{events:?}");
    let found = cluster.send("GET", &format!("{CORE}/endpoints/big"), &Value::Null).await;
    let time = &found["metadata"]["annotations"]["endpoints.kubernetes.io/last-change-trigger-time"];
    assert!(time.is_string(), "{found}");
    change(&cluster).await;
    cluster.reach(CHANGED).await;
    release(&cluster).await;
    cluster.reach(RELEASED).await;
}

#[needs(kube_controller_manager)]
#[tokio::test(flavor = "multi_thread")]
async fn endpoints_and_slices_are_those_of_kube_controller_manager() {
    let (ours, upstream) = (Cluster::start(CONTROLLERS).await, Cluster::start("--controllers=-*").await);
    for cluster in [&ours, &upstream] {
        cluster.create("serviceaccounts", &json!({"metadata": {"name": "default"}})).await;
        create_pods(cluster).await;
        create_services(cluster).await;
    }
    let _manager = Manager::start_with(&upstream.server, &[CONTROLLERS]);
    await_same(&ours, &upstream, CREATED).await;
    for cluster in [&ours, &upstream] {
        change(cluster).await;
    }
    await_same(&ours, &upstream, CHANGED).await;
    for cluster in [&ours, &upstream] {
        release(cluster).await;
    }
    await_same(&ours, &upstream, RELEASED).await;
}

/// Waits until both clusters have reached a table and are equal. Some changes keep all numbers.
async fn await_same(ours: &Cluster, upstream: &Cluster, table: &[Row]) {
    let begin = Instant::now();
    loop {
        let (here, there) = (ours.reach(table).await, upstream.reach(table).await);
        if here == there {
            return;
        }
        assert!(begin.elapsed() < DEADLINE, "here: {here:#}\nupstream: {there:#}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
