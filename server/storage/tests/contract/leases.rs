//! Keys with a TTL.

use storage::{KeyRange, Store, Txn};

use super::{commit, events_until, get, put, summary};

/// The shortest TTL, and one that outlasts the test, in seconds.
const SECOND: u64 = 1;
const LONG: u64 = 3600;

pub async fn a_key_with_a_lease_is_deleted(store: &dyn Store) {
    let created = commit(store, Txn::create("/lease/a", "1").with_ttl(SECOND)).await;
    let kept = commit(store, Txn::create("/lease/b", "1").with_ttl(LONG)).await;
    let mut watch = store.watch(KeyRange::prefix("/lease/"), Some(created)).await.unwrap();
    let events = events_until(&mut watch, kept + 1).await;
    assert_eq!(summary(&events), ["+a=1", "+b=1", "-a"]);
    assert_eq!(events[2].prev.as_ref().map(|prev| prev.mod_revision), Some(created));
    assert_eq!(get(store, "/lease/a").await, None);
    assert!(get(store, "/lease/b").await.is_some());
}

pub async fn writing_again_without_a_lease_keeps_the_key(store: &dyn Store) {
    let mut watch = store.watch(KeyRange::prefix("/keep/"), None).await.unwrap();
    let created = commit(store, Txn::create("/keep/a", "1").with_ttl(SECOND)).await;
    commit(store, Txn::update("/keep/a", created, "2")).await;
    // This lease expires after the first one would have.
    let marker = commit(store, Txn::create("/keep/marker", "1").with_ttl(SECOND)).await;
    let events = events_until(&mut watch, marker + 1).await;
    assert_eq!(summary(&events), ["+a=1", "~a=2", "+marker=1", "-marker"]);
    assert!(get(store, "/keep/a").await.is_some());
}

pub async fn writing_again_with_a_lease_prolongs_it(store: &dyn Store) {
    let mut watch = store.watch(KeyRange::prefix("/prolong/"), None).await.unwrap();
    let created = commit(store, Txn::create("/prolong/a", "1").with_ttl(SECOND)).await;
    commit(store, Txn::update("/prolong/a", created, "2").with_ttl(LONG)).await;
    put(store, "/prolong/b", "1").await;
    commit(store, Txn::put("/prolong/b", "2").with_ttl(SECOND)).await;
    let marker = commit(store, Txn::create("/prolong/marker", "1").with_ttl(SECOND)).await;
    let events = events_until(&mut watch, marker + 2).await;
    let mut expired = summary(&events)[5..].to_vec();
    expired.sort(); // etcd expires leases with the same end in any order
    assert_eq!(expired, ["-b", "-marker"]);
    assert!(get(store, "/prolong/a").await.is_some());
}
