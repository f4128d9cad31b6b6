//! Hints of endpoint slices in proportion to the processors of zones, beside those of
//! kube-controller-manager.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use needs::needs;
use serde_json::{Value, json};

use crate::DEADLINE;
use crate::lease::Manager;
use crate::services::{CORE, Cluster, SLICES, ready, running};

const CONTROLLERS: &str = "--controllers=endpointslice-controller";
const SERVICE: &str = "services/web";
const MODE: &str = "service.kubernetes.io/topology-mode";

/// Creates a ready node; one without a zone is of the control plane.
async fn create_node(cluster: &Cluster, name: &str, zone: Option<&str>) {
    let labels = match zone {
        Some(zone) => json!({"topology.kubernetes.io/zone": zone}),
        None => json!({"node-role.kubernetes.io/control-plane": ""}),
    };
    cluster.create("nodes", &json!({"metadata": {"name": name, "labels": labels}})).await;
    let status = json!({"allocatable": {"cpu": "3500m"}, "conditions": ready(true)});
    cluster.send("PATCH", &format!("/api/v1/nodes/{name}/status"), &json!({"status": status})).await;
}

/// Creates nodes of two zones, three endpoints in one of them and one in the other.
async fn create(cluster: &Cluster) {
    cluster.create("serviceaccounts", &json!({"metadata": {"name": "default"}})).await;
    for (name, zone) in [("a", Some("za")), ("b", Some("zb")), ("control", None)] {
        create_node(cluster, name, zone).await;
    }
    for (at, node) in ["a", "a", "a", "b"].into_iter().enumerate() {
        cluster.pod(&format!("web-{at}"), "web", &json!({"nodeName": node}), &running(at, true)).await;
    }
    let metadata = json!({"name": "web", "annotations": {MODE: "Auto"}});
    let spec = json!({"selector": {"app": "web"}, "ports": [{"port": 80}]});
    cluster.create("services", &json!({"metadata": metadata, "spec": spec})).await;
}

/// The number of endpoints for each zone, and that of endpoints without a hint below the empty name.
async fn hints(cluster: &Cluster) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for slice in cluster.items(SLICES).await {
        let is_own = slice["metadata"]["labels"]["kubernetes.io/service-name"] == "web";
        for endpoint in slice["endpoints"].as_array().into_iter().flatten().filter(|_| is_own) {
            let zone = endpoint["hints"]["forZones"][0]["name"].as_str().unwrap_or_default();
            *counts.entry(zone.to_owned()).or_default() += 1;
        }
    }
    counts
}

/// Waits for hints. The service changes again and again, because kube-controller-manager does not look
/// at a service without hints when nodes change.
async fn reach(cluster: &Cluster, expect: &[(&str, usize)]) {
    let expect: BTreeMap<String, usize> = expect.iter().map(|(zone, count)| ((*zone).to_owned(), *count)).collect();
    let begin = Instant::now();
    for round in 0.. {
        let found = hints(cluster).await;
        if found == expect {
            return;
        }
        assert!(begin.elapsed() < DEADLINE, "found {found:?} instead of {expect:?}");
        cluster.patch(SERVICE, &json!({"metadata": {"labels": {"round": format!("r{round}")}}})).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// Messages of kube-controller-manager about a service that it reads before the nodes.
const BEFORE_NODES: [&str; 2] = ["Insufficient Node information", "Nodes only ready in one zone"];

/// The events about hints, without those of a controller that does not know the nodes yet.
async fn events(cluster: &Cluster) -> Vec<String> {
    let text = |event: &Value, key: &str| event[key].as_str().unwrap_or_default().to_owned();
    let line = |event: &Value| format!("{} {}: {}", text(event, "type"), text(event, "reason"), text(event, "message"));
    let mut lines: Vec<String> = cluster.items(&format!("{CORE}/events")).await.iter().map(line).collect();
    let is_early = |line: &str| BEFORE_NODES.into_iter().any(|text| line.contains(text));
    lines.retain(|line| line.contains("TopologyAwareHints") && !is_early(line));
    lines.sort();
    lines.dedup();
    lines
}

/// Goes through the changes, and returns the events.
async fn follow(cluster: &Cluster) -> Vec<String> {
    reach(cluster, &[("za", 2), ("zb", 2)]).await;
    // Four endpoints do not suffice for three zones.
    create_node(cluster, "c", Some("zc")).await;
    reach(cluster, &[("", 4)]).await;
    cluster.send("DELETE", "/api/v1/nodes/c", &Value::Null).await;
    reach(cluster, &[("za", 2), ("zb", 2)]).await;
    cluster.patch(SERVICE, &json!({"metadata": {"annotations": {MODE: null}}})).await;
    reach(cluster, &[("", 4)]).await;
    let begin = Instant::now();
    loop {
        let events = events(cluster).await;
        // Events are written after the slices.
        if events.len() >= 3 || begin.elapsed() > DEADLINE {
            return events;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn hints_follow_the_processors_of_zones() {
    let cluster = Cluster::start(CONTROLLERS).await;
    create(&cluster).await;
    let too_few = "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold";
    assert_eq!(
        follow(&cluster).await,
        [
            "Normal TopologyAwareHintsEnabled: Topology Aware Hints has been enabled, addressType: IPv4".to_owned(),
            "Warning TopologyAwareHintsDisabled: Topology Aware Hints has been disabled, addressType: IPv4".to_owned(),
            format!("Warning TopologyAwareHintsDisabled: {too_few} (4 endpoints, 3 zones), addressType: IPv4"),
        ]
    );
}

#[needs(kube_controller_manager)]
#[tokio::test(flavor = "multi_thread")]
async fn hints_by_processors_are_those_of_kube_controller_manager() {
    let (ours, upstream) = (Cluster::start(CONTROLLERS).await, Cluster::start("--controllers=-*").await);
    create(&ours).await;
    create(&upstream).await;
    let _manager = Manager::start_with(&upstream.server, &[CONTROLLERS]);
    let (here, there) = tokio::join!(follow(&ours), follow(&upstream));
    assert_eq!(here, there);
}
