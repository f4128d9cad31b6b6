//! The lease of the controllers: one process acts at a time, and a waiting kube-controller-manager
//! gets the lease.

use std::net::Ipv4Addr;
use std::process::{Child, Command, Stdio};

use http::Request;
use kube::Client;
use needs::needs;
use ports::free_port;
use serde_json::Value;

use super::{eventually, start, start_with};
use crate::client;
use crate::common::Server;
use crate::common::kubectl::Kubectl;
use crate::etcd_server::EtcdServer;

const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager";
/// The beginning of the identities of the processes of this program.
const HERE: &str = "apiserver-";
/// The user agent of the leader election of upstream's program.
const CANDIDATE: &str = "kube-controller-manager/v1.36.2 (linux/amd64) kubernetes/abc/leader-election";

#[needs(kubectl)]
#[test]
fn controllers_follow_the_flag_and_the_lease() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = Kubectl(Server::start_with(folder.path(), &["--controllers=*,-serviceaccount"]));
    let lease = kubectl.json(&["get", "lease", "kube-controller-manager", "-n", "kube-system"]);
    assert_eq!(lease["spec"]["leaseDurationSeconds"], 15);
    assert_eq!(lease["spec"]["leaseTransitions"], 0);
    let holder = lease["spec"]["holderIdentity"].as_str().unwrap().to_owned();
    assert!(kubectl.exists(&["configmap", "kube-root-ca.crt"]));
    assert!(!kubectl.exists(&["serviceaccount", "default"]));
    // A process that was killed has not released the lease; the next one takes it at once.
    kubectl.0.kill();
    let kubectl = start(folder.path());
    let lease = kubectl.json(&["get", "lease", "kube-controller-manager", "-n", "kube-system"]);
    assert_ne!(lease["spec"]["holderIdentity"], holder);
    assert_eq!(lease["spec"]["leaseTransitions"], 1);
    assert!(kubectl.exists(&["serviceaccount", "default"]));
    assert!(kubectl.0.stop());
    let kubectl = start_with(folder.path(), &["--controllers=-*"]);
    let lease = kubectl.json(&["get", "lease", "kube-controller-manager", "-n", "kube-system"]);
    assert_eq!(lease["spec"]["holderIdentity"], "", "the lease was released");
}

impl Kubectl {
    fn lease(&self) -> Value {
        self.json(&["get", "lease", "kube-controller-manager", "-n", "kube-system"])["spec"].clone()
    }

    fn holder(&self) -> String {
        self.lease()["holderIdentity"].as_str().unwrap_or_default().to_owned()
    }

    /// Whether the controllers give a new namespace its service account.
    fn waits_for_account(&self, namespace: &str) {
        self.run(&["create", "namespace", namespace]);
        eventually("the account", || self.exists(&["serviceaccount", "default", "-n", namespace]).then_some(()));
    }
}

/// Sends a request for the lease as upstream's leader election does.
async fn election(client: &Client, method: &str, lease: &Value) -> Value {
    let body = if lease.is_null() { Vec::new() } else { lease.to_string().into_bytes() };
    let request = Request::builder().method(method).uri(LEASE).header("User-Agent", CANDIDATE);
    client.request(request.header("Content-Type", "application/json").body(body).unwrap()).await.unwrap()
}

#[needs(kubectl)]
#[test]
fn lease_is_released_to_candidate_and_taken_again_when_it_expires() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    assert!(kubectl.holder().starts_with(HERE));
    // Other readers do not end the work of the controllers.
    kubectl.waits_for_account("one");
    assert!(kubectl.holder().starts_with(HERE));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let client = client::connect(&kubectl.0).await;
        let begin = std::time::Instant::now();
        let mut lease = loop {
            let lease = election(&client, "GET", &Value::Null).await;
            if lease["spec"]["holderIdentity"] == "" {
                break lease;
            }
            assert!(begin.elapsed() < super::DEADLINE, "the lease is not released: {lease}");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        };
        // The candidate takes the lease, and ends without a release.
        let term = lease["spec"]["leaseTransitions"].as_i64().unwrap() + 1;
        lease["spec"]["holderIdentity"] = "candidate".into();
        lease["spec"]["leaseTransitions"] = term.into();
        lease["spec"]["leaseDurationSeconds"] = 3.into();
        election(&client, "PUT", &lease).await;
    });
    // The controllers stand by until the lease expires.
    kubectl.run(&["create", "namespace", "two"]);
    assert_eq!(kubectl.holder(), "candidate");
    assert!(!kubectl.exists(&["serviceaccount", "default", "-n", "two"]));
    eventually("the return of the controllers", || kubectl.holder().starts_with(HERE).then_some(()));
    eventually("the account", || kubectl.exists(&["serviceaccount", "default", "-n", "two"]).then_some(()));
}

#[needs(kubectl)]
#[test]
fn reader_of_the_lease_without_the_right_to_update_does_not_end_the_controllers() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    kubectl.run(&["create", "clusterrole", "reader", "--verb=get", "--resource=leases.coordination.k8s.io"]);
    kubectl.run(&["create", "clusterrolebinding", "reader", "--clusterrole=reader", "--user=jane"]);
    let holder = kubectl.holder();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let client = client::connect(&kubectl.0).await;
        let request = || {
            let request = Request::builder().uri(LEASE).header("User-Agent", CANDIDATE);
            request.header("Impersonate-User", "jane").body(Vec::new()).unwrap()
        };
        // The authorizer learns of the role by a watch.
        while client.request::<Value>(request()).await.is_err() {}
        for _ in 0..20 {
            client.request::<Value>(request()).await.unwrap();
        }
    });
    kubectl.waits_for_account("one");
    assert_eq!(kubectl.holder(), holder);
    assert!(
        kubectl.json(&["get", "lease", "kube-controller-manager", "-n", "kube-system"])["metadata"]["annotations"]
            .is_null()
    );
}

#[needs(kubectl)]
#[test]
fn server_of_a_shared_store_waits_for_the_lease_of_another_server() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let url = format!("http://127.0.0.1:{}", free_port(Ipv4Addr::LOCALHOST));
    let (listen, join) = (format!("--etcd-listen-client-urls={url}"), format!("--etcd-servers={url}"));
    let first = Kubectl(Server::start_with(folder.path(), &["--controllers=-*", &listen]));
    let second = start_with(other.path(), &[&join]);
    let held = second.lease();
    assert!(held["holderIdentity"].as_str().unwrap().starts_with(HERE));
    // The identities of both servers begin alike, because they run on one host. The second one has
    // the lease while the first one starts again.
    first.0.kill();
    let first = start_with(folder.path(), &[&listen]);
    let renewed = eventually("the renewal of the lease", || {
        let lease = first.lease();
        (lease["renewTime"] != held["renewTime"]).then_some(lease)
    });
    assert_eq!(renewed["holderIdentity"], held["holderIdentity"]);
    assert_eq!(renewed["leaseTransitions"], held["leaseTransitions"]);
    // A candidate requests the lease from the first server, and the second one releases it.
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let client = client::connect(&first.0).await;
        let begin = std::time::Instant::now();
        while election(&client, "GET", &Value::Null).await["spec"]["holderIdentity"] != "" {
            assert!(begin.elapsed() < super::DEADLINE, "the lease is not released");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    });
    // No candidate takes it, so one of the two servers does.
    eventually("the return of the controllers", || first.holder().starts_with(HERE).then_some(()));
    assert!(second.0.stop());
}

#[needs(kubectl, kube_controller_manager)]
#[test]
fn kube_controller_manager_gets_the_lease_of_a_default_server() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    let here = kubectl.lease();
    assert!(here["holderIdentity"].as_str().unwrap().starts_with(HERE));
    let manager = Manager::start(&kubectl);
    let upstream = eventually("the lease of kube-controller-manager", || {
        let lease = kubectl.lease();
        let holder = lease["holderIdentity"].as_str().unwrap_or_default();
        (!holder.is_empty() && !holder.starts_with(HERE)).then_some(lease)
    });
    assert_eq!(upstream["leaseTransitions"], here["leaseTransitions"].as_i64().unwrap() + 1);
    // Its workload controllers run.
    kubectl.run(&["create", "deployment", "web", "--image=nginx"]);
    eventually("the pod of the deployment", || {
        let pods = kubectl.json(&["get", "pods", "-l", "app=web"]);
        (pods["items"].as_array().unwrap().len() == 1).then_some(())
    });
    assert_eq!(kubectl.holder(), upstream["holderIdentity"].as_str().unwrap());
    drop(manager);
    eventually("the return of the controllers", || kubectl.holder().starts_with(HERE).then_some(()));
    kubectl.waits_for_account("demo");
}

/// A running kube-controller-manager; killed on drop.
pub struct Manager(Child);

impl Manager {
    fn start(kubectl: &Kubectl) -> Manager {
        Manager::start_with(&kubectl.0, &[])
    }

    pub fn start_with(server: &Server, flags: &[&str]) -> Manager {
        let mut command = Command::new(needs::program!(kube_controller_manager));
        let config = format!("--kubeconfig={}", server.kubeconfig().display());
        command.arg(config).arg("--secure-port=0").args(flags);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Manager(command.spawn().unwrap())
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[needs(kubectl, etcd, kube_controller_manager)]
#[test]
fn controllers_and_kube_controller_manager_exclude_each_other() {
    let (etcd, folder, other) = (EtcdServer::start(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = format!("--etcd-servers={}", etcd.url);
    // This server has no controllers, because its store is etcd.
    let kubectl = Kubectl(Server::start_with(folder.path(), &[&store, "--controllers=-*"]));
    let lease = || kubectl.json(&["get", "lease", "kube-controller-manager", "-n", "kube-system"])["spec"].clone();
    let is_upstream = |holder: &str| !holder.is_empty() && !holder.starts_with("apiserver-");
    let manager = Manager::start(&kubectl);
    let holder_is = |what: &str, is: &dyn Fn(&str) -> bool| {
        eventually(what, || {
            let known = kubectl.try_run(&["get", "lease", "kube-controller-manager", "-n", "kube-system"], "");
            let spec = known.ok.then(&lease)?;
            is(spec["holderIdentity"].as_str().unwrap_or_default()).then_some(spec)
        })
    };
    let first = holder_is("the lease of kube-controller-manager", &is_upstream);
    // The controllers of another server stand by.
    let _second = Kubectl(Server::start_with(other.path(), &[&store, "--controllers=*", "--hostname-override=second"]));
    assert_eq!(lease()["holderIdentity"], first["holderIdentity"]);
    assert_eq!(lease()["leaseTransitions"], first["leaseTransitions"]);
    // They begin once the lease has expired.
    drop(manager);
    let here = holder_is("the lease of the controllers here", &|holder| holder.starts_with("apiserver-"));
    assert_eq!(here["leaseTransitions"], first["leaseTransitions"].as_i64().unwrap() + 1);
    kubectl.waits_for_account("demo");
    // A kube-controller-manager gets it, although its server has no controllers.
    let _manager = Manager::start(&kubectl);
    let last = holder_is("the lease of kube-controller-manager", &is_upstream);
    assert_ne!(last["holderIdentity"], first["holderIdentity"]);
}
