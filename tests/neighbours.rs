//! kube-apiserver and this server on one etcd, concurrently and one after the other.
//!
//! Each server reads the objects of the other, and neither removes or rewrites them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "neighbours/allocation.rs"]
mod allocation;
#[path = "neighbours/api.rs"]
mod api;
#[path = "neighbours/cluster.rs"]
mod cluster;
mod common;
#[path = "../server/storage/tests/etcd_server/mod.rs"]
mod etcd_server;
#[path = "neighbours/keys.rs"]
mod keys;
#[path = "neighbours/lists.rs"]
mod lists;
#[path = "neighbours/moving.rs"]
mod moving;
#[path = "neighbours/pair.rs"]
mod pair;
#[path = "growth/samples.rs"]
mod samples;
#[path = "neighbours/workloads.rs"]
mod workloads;
#[path = "neighbours/writes.rs"]
mod writes;

use std::time::Duration;

use api::Api;
use keys::Keys;
use needs::needs;
use pair::Pair;
use workloads::Workloads;

const MASTERS: &str = "/registry/masterleases/";
/// Keys of the objects by which a starting server registers itself.
const REGISTRATION_KEYS: [&str; 3] = [
    "/registry/configmaps/kube-system/extension-apiserver-authentication",
    "/registry/endpointslices/default/kubernetes",
    "/registry/services/endpoints/default/kubernetes",
];

/// Waits until the servers of the cluster have renewed their leases this many times.
async fn wait_for_renewals(pair: &Pair, times: u64) {
    let begin = Keys::read(pair).await.renewals(MASTERS);
    while Keys::read(pair).await.renewals(MASTERS) < begin + times {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Both servers create the same bootstrap objects: neither corrects those of the other, and a
/// starting server only registers itself.
#[needs(etcd, kube_apiserver)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_do_not_rewrite_bootstrap_objects() {
    for ours_first in [false, true] {
        let mut pair = Pair::new();
        if ours_first {
            pair.start_ours().await
        } else {
            pair.start_theirs().await
        };
        wait_for_renewals(&pair, 2).await;
        let alone = Keys::read(&pair).await;
        let second = if ours_first { pair.start_theirs().await } else { pair.start_ours().await };
        cluster::check_endpoints(&second, &["10.9.0.2", "10.9.0.3"]).await;
        let both = Keys::read(&pair).await;
        let joined = both.changed_since(&alone);
        assert!(joined.iter().all(|key| REGISTRATION_KEYS.contains(key)), "{} started: {joined:?}", second.name);
        wait_for_renewals(&pair, 4).await;
        let later = Keys::read(&pair).await;
        assert_eq!(later.changed_since(&both), [""; 0], "both run without requests");
    }
}

/// Runs all checks with both servers at the same time.
async fn check_both_servers(pair: &Pair, custom: &str, round: &str) {
    let (ours, theirs) = (pair.ours(), pair.theirs());
    let step = |what: &str| eprintln!("{round}: {what}");
    step("servers of the cluster");
    cluster::check_endpoints(&ours, &["10.9.0.2", "10.9.0.3"]).await;
    cluster::check_endpoints(&theirs, &["10.9.0.2", "10.9.0.3"]).await;
    step("lists and watches");
    lists::check(&ours, &theirs, custom, round).await;
    step("addresses and ports");
    allocation::check(&ours, &theirs, round).await;
    step("field ownership");
    writes::apply(&ours, &theirs, custom, round).await;
    step("patches and deletion");
    writes::delete(&ours, &theirs, round).await;
    writes::delete(&theirs, &ours, round).await;
    step("definitions");
    cluster::definitions(&ours, &theirs, round).await;
    cluster::definitions(&theirs, &ours, round).await;
}

/// Both servers together behave like one, also after either was absent.
#[needs(etcd, kube_apiserver)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_servers_behave_like_one() {
    let mut pair = Pair::new();
    let theirs = pair.start_theirs().await;
    let ours = pair.start_ours().await;
    let custom = cluster::define(&theirs, &ours).await;
    check_both_servers(&pair, &custom, "together").await;

    pair.stop_ours();
    cluster::check_endpoints(&theirs, &["10.9.0.3"]).await;
    pair.start_ours().await;
    check_both_servers(&pair, &custom, "ours-again").await;

    pair.stop_theirs();
    cluster::check_endpoints(&ours, &["10.9.0.2"]).await;
    pair.start_theirs().await;
    check_both_servers(&pair, &custom, "upstream-again").await;
}

/// Checks that the start of a server changes only the keys of its registration.
async fn check_registration(pair: &Pair, server: &Api, address: &str, before: &Keys) {
    cluster::check_endpoints(server, &[address]).await;
    wait_for_renewals(pair, 2).await;
    let changed = Keys::read(pair).await;
    let changed = changed.changed_since(before);
    assert!(changed.iter().all(|key| REGISTRATION_KEYS.contains(key)), "{} rewrites {changed:?}", server.name);
}

/// A cluster moves from kube-apiserver to this server and back: no object is lost, rewritten or
/// returned differently.
#[needs(etcd, kube_apiserver)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cluster_moves_between_servers_without_changes() {
    let mut pair = Pair::new();
    let theirs = pair.start_theirs().await;
    let mut paths = moving::create(&theirs, 1).await;
    wait_for_renewals(&pair, 2).await;
    let (stored, shown) = (Keys::read(&pair).await, moving::objects(&theirs).await);
    pair.stop_theirs();

    let ours = pair.start_ours().await;
    check_registration(&pair, &ours, "10.9.0.2", &stored).await;
    moving::assert_same(&shown, &moving::objects(&ours).await, "this server");
    paths.extend(moving::create(&ours, 2).await);
    moving::label(&ours, &paths).await;
    wait_for_renewals(&pair, 2).await;
    let (stored, shown) = (Keys::read(&pair).await, moving::objects(&ours).await);
    pair.stop_ours();

    let theirs = pair.start_theirs().await;
    check_registration(&pair, &theirs, "10.9.0.3", &stored).await;
    moving::assert_same(&shown, &moving::objects(&theirs).await, "upstream");
}

/// Objects stored by older servers, in older versions and without newer defaults, are returned
/// identically by both servers.
#[needs(etcd, kube_apiserver)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_of_older_servers_are_read_identically() {
    let mut pair = Pair::new();
    let theirs = pair.start_theirs().await;
    let created = moving::create(&theirs, 1).await;
    pair.stop_theirs();
    let ours = pair.start_ours().await;
    // One server reads them from the store at its start, the other as changes while it runs.
    moving::store_as_older_server(&pair, &ours, &created).await;
    let theirs = pair.start_theirs().await;
    let shown = moving::without_empty_lists(moving::objects(&theirs).await);
    moving::assert_same(&shown, &moving::without_empty_lists(moving::objects(&ours).await), "this server");
    pair.stop_ours();
    let ours = pair.start_ours().await;
    moving::assert_same(
        &shown,
        &moving::without_empty_lists(moving::objects(&ours).await),
        "this server, started again",
    );
}

/// Waits until the controllers are idle.
async fn wait_for_idle_controllers(pair: &Pair) -> Keys {
    loop {
        let before = Keys::read(pair).await;
        wait_for_renewals(pair, 1).await;
        let after = Keys::read(pair).await;
        if after.changed_since(&before).is_empty() {
            return after;
        }
    }
}

/// A cluster moves there and back while controllers, scheduler and nodes run.
///
/// Pods keep their identity and node, no object is rewritten, and the controllers continue.
#[needs(etcd, kube_apiserver, kube_controller_manager, kube_scheduler, kwok)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workloads_survive_change_of_server() {
    let mut pair = Pair::at_one_address();
    let theirs = pair.start_theirs().await;
    let _workloads = Workloads::start(&pair, &theirs).await;
    workloads::begin(&theirs).await;
    let (stored, pods) = (wait_for_idle_controllers(&pair).await, workloads::pods(&theirs).await);
    pair.stop_theirs();
    let ours = pair.start_ours().await;
    check_registration(&pair, &ours, "10.9.0.2", &stored).await;
    assert_eq!(workloads::pods(&ours).await, pods);

    workloads::check_controllers(&ours).await;
    let (stored, pods) = (wait_for_idle_controllers(&pair).await, workloads::pods(&ours).await);
    pair.stop_ours();
    let theirs = pair.start_theirs().await;
    check_registration(&pair, &theirs, "10.9.0.3", &stored).await;
    assert_eq!(workloads::pods(&theirs).await, pods);
    workloads::check_controllers(&theirs).await;
}
