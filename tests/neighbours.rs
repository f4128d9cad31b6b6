//! Upstream's server and this one on one etcd, side by side and one after the other: what one writes the other reads, and neither
//! takes away or rewrites what is the other's.

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
/// What a server that starts adds itself to.
const JOINING: [&str; 3] = [
    "/registry/configmaps/kube-system/extension-apiserver-authentication",
    "/registry/endpointslices/default/kubernetes",
    "/registry/services/endpoints/default/kubernetes",
];

/// Waits until the servers of the cluster have renewed their leases so often.
async fn renewed(pair: &Pair, times: u64) {
    let begin = Keys::read(pair).await.renewals(MASTERS);
    while Keys::read(pair).await.renewals(MASTERS) < begin + times {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// What a cluster begins with is the same for both servers: neither corrects what the other made, and a server that starts
/// adds itself and no more.
#[needs(etcd, kube_apiserver)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn neither_rewrites_what_a_cluster_begins_with() {
    for ours_first in [false, true] {
        let mut pair = Pair::new();
        if ours_first {
            pair.start_ours().await
        } else {
            pair.start_theirs().await
        };
        renewed(&pair, 2).await;
        let alone = Keys::read(&pair).await;
        let second = if ours_first { pair.start_theirs().await } else { pair.start_ours().await };
        cluster::lead_to(&second, &["10.9.0.2", "10.9.0.3"]).await;
        let both = Keys::read(&pair).await;
        let joined = both.changed_since(&alone);
        assert!(joined.iter().all(|key| JOINING.contains(key)), "{} started: {joined:?}", second.name);
        renewed(&pair, 4).await;
        let later = Keys::read(&pair).await;
        assert_eq!(later.changed_since(&both), [""; 0], "both run without requests");
    }
}

/// Everything that both do at the same time.
async fn live_together(pair: &Pair, custom: &str, round: &str) {
    let (ours, theirs) = (pair.ours(), pair.theirs());
    let step = |what: &str| eprintln!("{round}: {what}");
    step("servers of the cluster");
    cluster::lead_to(&ours, &["10.9.0.2", "10.9.0.3"]).await;
    cluster::lead_to(&theirs, &["10.9.0.2", "10.9.0.3"]).await;
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

/// Both servers do what one of them alone would, also when either was away.
#[needs(etcd, kube_apiserver)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_are_one_cluster() {
    let mut pair = Pair::new();
    let theirs = pair.start_theirs().await;
    let ours = pair.start_ours().await;
    let custom = cluster::define(&theirs, &ours).await;
    live_together(&pair, &custom, "together").await;

    pair.stop_ours();
    cluster::lead_to(&theirs, &["10.9.0.3"]).await;
    pair.start_ours().await;
    live_together(&pair, &custom, "ours-again").await;

    pair.stop_theirs();
    cluster::lead_to(&ours, &["10.9.0.2"]).await;
    pair.start_theirs().await;
    live_together(&pair, &custom, "upstream-again").await;
}

/// The changes of keys that the start of a server makes are those by which it joins.
async fn moved(pair: &Pair, server: &Api, address: &str, before: &Keys) {
    cluster::lead_to(server, &[address]).await;
    renewed(pair, 2).await;
    let changed = Keys::read(pair).await;
    let changed = changed.changed_since(before);
    assert!(changed.iter().all(|key| JOINING.contains(key)), "{} rewrites {changed:?}", server.name);
}

/// A cluster moves from upstream's server to this one and back: nothing is lost, rewritten or shown otherwise.
#[needs(etcd, kube_apiserver)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_moves_there_and_back() {
    let mut pair = Pair::new();
    let theirs = pair.start_theirs().await;
    let mut paths = moving::create(&theirs, 1).await;
    renewed(&pair, 2).await;
    let (stored, shown) = (Keys::read(&pair).await, moving::objects(&theirs).await);
    pair.stop_theirs();

    let ours = pair.start_ours().await;
    moved(&pair, &ours, "10.9.0.2", &stored).await;
    moving::same(&shown, &moving::objects(&ours).await, "this server");
    paths.extend(moving::create(&ours, 2).await);
    moving::label(&ours, &paths).await;
    renewed(&pair, 2).await;
    let (stored, shown) = (Keys::read(&pair).await, moving::objects(&ours).await);
    pair.stop_ours();

    let theirs = pair.start_theirs().await;
    moved(&pair, &theirs, "10.9.0.3", &stored).await;
    moving::same(&shown, &moving::objects(&theirs).await, "upstream");
}

/// Objects that older servers stored, in older versions and without the defaults that came later, are the same at both servers.
#[needs(etcd, kube_apiserver)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_of_older_servers_are_read_alike() {
    let mut pair = Pair::new();
    let theirs = pair.start_theirs().await;
    let created = moving::create(&theirs, 1).await;
    pair.stop_theirs();
    let ours = pair.start_ours().await;
    // One server reads what is stored when it starts, the other what changes while it runs.
    moving::age(&pair, &ours, &created).await;
    let theirs = pair.start_theirs().await;
    let shown = moving::without_empty_lists(moving::objects(&theirs).await);
    moving::same(&shown, &moving::without_empty_lists(moving::objects(&ours).await), "this server");
    pair.stop_ours();
    let ours = pair.start_ours().await;
    moving::same(&shown, &moving::without_empty_lists(moving::objects(&ours).await), "this server, started again");
}

/// Waits until controllers have nothing left to do.
async fn settled(pair: &Pair) -> Keys {
    loop {
        let before = Keys::read(pair).await;
        renewed(pair, 1).await;
        let after = Keys::read(pair).await;
        if after.changed_since(&before).is_empty() {
            return after;
        }
    }
}

/// A cluster moves there and back while controllers, scheduler and nodes run: pods stay what and where they are, no object is rewritten,
/// and work goes on.
#[needs(etcd, kube_apiserver, kube_controller_manager, kube_scheduler, kwok)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workloads_stay_while_a_cluster_moves() {
    let mut pair = Pair::at_one_address();
    let theirs = pair.start_theirs().await;
    let _workloads = Workloads::start(&pair, &theirs).await;
    workloads::begin(&theirs).await;
    let (stored, pods) = (settled(&pair).await, workloads::pods(&theirs).await);
    pair.stop_theirs();
    let ours = pair.start_ours().await;
    moved(&pair, &ours, "10.9.0.2", &stored).await;
    assert_eq!(workloads::pods(&ours).await, pods);

    workloads::go_on(&ours).await;
    let (stored, pods) = (settled(&pair).await, workloads::pods(&ours).await);
    pair.stop_ours();
    let theirs = pair.start_theirs().await;
    moved(&pair, &theirs, "10.9.0.3", &stored).await;
    assert_eq!(workloads::pods(&theirs).await, pods);
    workloads::go_on(&theirs).await;
}
