//! Controllers, a scheduler and nodes that keep running while the cluster changes its servers.

use std::fs;
use std::net::Ipv4Addr;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::api::{Api, TOKEN};
use crate::cluster::until;
use crate::pair::Pair;

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const STATEFUL_SETS: &str = "/apis/apps/v1/namespaces/default/statefulsets";
const DAEMON_SETS: &str = "/apis/apps/v1/namespaces/default/daemonsets";
const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
const PODS: &str = "/api/v1/namespaces/default/pods";
const NODES: [&str; 2] = ["node-a", "node-b"];

/// The components of a cluster other than the API server; they are killed on drop.
pub struct Workloads(Vec<Child>);

impl Workloads {
    /// Starts kube-controller-manager, kube-scheduler and kwok with two nodes, and waits until the
    /// nodes are ready.
    pub async fn start(pair: &Pair, api: &Api) -> Workloads {
        let config = pair.file("kubeconfig");
        let content = json!({"apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": api.url, "insecure-skip-tls-verify": true}}],
            "users": [{"name": "test", "user": {"token": TOKEN}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}]});
        fs::write(&config, content.to_string()).unwrap();
        let config = format!("--kubeconfig={config}");
        let alone = ["--leader-elect=false", "--secure-port=0"];
        let key = format!("--service-account-private-key-file={}", pair.file("sa.key"));
        let port = ports::free_port(Ipv4Addr::LOCALHOST);
        let listen = format!("--server-address=127.0.0.1:{port}");
        let run = |program: &str, flags: &[&str]| {
            let log = fs::File::options().create(true).append(true).open(pair.file("workloads.log")).unwrap();
            let mut command = Command::new(program);
            command.arg(&config).args(flags).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
            command.spawn().unwrap()
        };
        let programs = Workloads(vec![
            run(needs::program!(kube_controller_manager), &[alone[0], alone[1], &key]),
            run(needs::program!(kube_scheduler), &alone),
            run(needs::program!(kwok), &["--manage-all-nodes", "--node-lease-duration-seconds=40", &listen]),
        ]);
        for name in NODES {
            let resources = json!({"cpu": "32", "memory": "256Gi", "pods": "110"});
            let labels = json!({"kubernetes.io/hostname": name});
            let node = json!({"metadata": {"name": name, "labels": labels},
                "status": {"allocatable": resources, "capacity": resources}});
            api.create("/api/v1/nodes", &node).await;
        }
        until("service accounts are made", || async {
            api.code("/api/v1/namespaces/default/serviceaccounts/default").await == 200
        })
        .await;
        programs
    }
}

impl Drop for Workloads {
    fn drop(&mut self) {
        for process in &mut self.0 {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

fn template(restart: &str) -> Value {
    json!({"metadata": {"labels": {"a": "b"}},
        "spec": {"restartPolicy": restart, "containers": [{"name": "c", "image": "i"}]}})
}

/// Creates a deployment, a stateful set, a daemon set, a job and a service, and waits until their
/// pods run.
pub async fn begin(api: &Api) {
    let set = |name: &str, replicas: Value| {
        json!({"metadata": {"name": name}, "spec": {"replicas": replicas, "serviceName": "s",
            "selector": {"matchLabels": {"a": "b"}}, "template": template("Always")}})
    };
    let without = |mut object: Value, names: &[&str]| {
        for name in names {
            object["spec"].as_object_mut().unwrap().remove(*name);
        }
        object
    };
    api.create(DEPLOYMENTS, &without(set("web", json!(4)), &["serviceName"])).await;
    api.create(STATEFUL_SETS, &set("store", json!(2))).await;
    api.create(DAEMON_SETS, &without(set("agent", json!(0)), &["serviceName", "replicas"])).await;
    api.create(JOBS, &json!({"metadata": {"name": "once"}, "spec": {"template": template("Never")}})).await;
    let service = json!({"metadata": {"name": "s"}, "spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]}});
    api.create("/api/v1/namespaces/default/services", &service).await;
    ready(api, 4).await;
}

/// Waits until all workloads have reached their desired state.
async fn ready(api: &Api, replicas: i64) {
    until("the deployment is ready", || async {
        let web = api.get(&format!("{DEPLOYMENTS}/web")).await;
        web["status"]["readyReplicas"] == replicas && web["status"]["updatedReplicas"] == replicas
    })
    .await;
    until("the other sets are ready", || async {
        let store = api.get(&format!("{STATEFUL_SETS}/store")).await;
        let agent = api.get(&format!("{DAEMON_SETS}/agent")).await;
        let once = api.get(&format!("{JOBS}/once")).await;
        store["status"]["readyReplicas"] == 2
            && agent["status"]["numberReady"] == NODES.len()
            && once["status"]["succeeded"] == 1
    })
    .await;
    until("the service leads to all pods", || async {
        let slices = api.get("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Ds");
        let slices = slices.await;
        let endpoints = slices["items"].as_array().unwrap().iter().flat_map(|slice| slice["endpoints"].as_array());
        endpoints.flatten().filter(|endpoint| endpoint["conditions"]["ready"] == true).count() as i64 == replicas + 4
    })
    .await;
}

/// Returns name, UID and node of each pod, and its container's restart count.
pub async fn pods(api: &Api) -> Vec<String> {
    let list = api.get(PODS).await;
    let pod = |pod: &Value| {
        let (metadata, status) = (&pod["metadata"], &pod["status"]);
        let restarts = &status["containerStatuses"][0]["restartCount"];
        format!("{} {} {} {restarts}", metadata["name"], metadata["uid"], pod["spec"]["nodeName"])
    };
    list["items"].as_array().unwrap().iter().map(pod).collect()
}

/// Checks that controllers and scheduler still work: the deployment scales up and down.
pub async fn check_controllers(api: &Api) {
    for replicas in [6, 4] {
        let scaled = json!({"spec": {"replicas": replicas}});
        api.merge(&format!("{DEPLOYMENTS}/web"), &scaled).await;
        ready(api, replicas).await;
    }
}
