//! Compaction: the history that it removes, and the state that it keeps.

use storage::{Error, KeyRange, ListOptions, Store, Txn};

use super::{commit, events_until, get, outcome, put, summary, value_at};

pub async fn compacted_revisions_are_refused(store: &dyn Store) {
    let first = put(store, "/refused/a", "1").await;
    let second = put(store, "/refused/a", "2").await;
    put(store, "/refused/a", "3").await;
    store.compact(second).await.unwrap();
    let refused = |error: Error| matches!(error, Error::Compacted { requested, compacted } if requested == first && compacted == second);
    assert!(refused(store.get(b"/refused/a", Some(first)).await.unwrap_err()));
    let options = ListOptions { revision: Some(first), limit: 0 };
    assert!(refused(store.list(KeyRange::prefix("/refused/"), options).await.unwrap_err()));
    assert_eq!(value_at(store, "/refused/a", second).await.as_deref(), Some("2"), "the compacted revision is readable");
}

pub async fn compaction_keeps_the_current_state(store: &dyn Store) {
    for value in ["1", "2", "3"] {
        put(store, "/present/a", value).await;
        put(store, "/present/b", value).await;
        put(store, "/present/c", value).await;
    }
    commit(store, Txn::delete("/present/b")).await;
    let compacted = put(store, "/present/d", "1").await;
    let later = put(store, "/present/a", "4").await;
    let deleted = commit(store, Txn::delete("/present/c")).await;
    let before = (get(store, "/present/a").await, get(store, "/present/d").await);
    store.compact(compacted).await.unwrap();
    // Another write, for stores that purge a part of the history with each group of writes.
    let last = put(store, "/present/e", "1").await;
    assert_eq!((get(store, "/present/a").await, get(store, "/present/d").await), before);
    let list = async |revision| {
        let answer = store
            .list(KeyRange::prefix("/present/"), ListOptions { revision: Some(revision), limit: 0 })
            .await
            .unwrap();
        super::pairs(&answer.kvs).into_iter().map(|(key, value)| key[9..].to_owned() + "=" + &value).collect::<Vec<_>>()
    };
    assert_eq!(list(compacted).await, ["a=3", "c=3", "d=1"]);
    assert_eq!(list(later).await, ["a=4", "c=3", "d=1"]);
    assert_eq!(list(deleted).await, ["a=4", "d=1"]);
    assert_eq!(list(last).await, ["a=4", "d=1", "e=1"]);
    let mut watch = store.watch(KeyRange::prefix("/present/"), Some(compacted + 1)).await.unwrap();
    let events = events_until(&mut watch, last).await;
    assert_eq!(summary(&events), ["~a=4", "-c", "+e=1"]);
    assert!(events[..2].iter().all(|event| event.prev.as_ref().is_some_and(|prev| &prev.value[..] == b"3")));
}

pub async fn a_watch_from_a_compacted_revision_is_refused(store: &dyn Store) {
    let first = put(store, "/stale/a", "1").await;
    put(store, "/stale/a", "2").await;
    let third = put(store, "/stale/a", "3").await;
    store.compact(third).await.unwrap();
    let error = match store.watch(KeyRange::prefix("/stale/"), Some(first)).await {
        Err(error) => error,
        Ok(mut watch) => outcome(&mut watch).await.unwrap_err(),
    };
    assert!(matches!(error, Error::Compacted { requested, compacted } if requested == first && compacted == third));
    let mut watch = store.watch(KeyRange::prefix("/stale/"), Some(third + 1)).await.unwrap();
    let last = put(store, "/stale/a", "4").await;
    assert_eq!(summary(&events_until(&mut watch, last).await), ["~a=4"]);
}

pub async fn a_watch_that_is_up_to_date_survives_compaction(store: &dyn Store) {
    let mut watch = store.watch(KeyRange::prefix("/survive/"), None).await.unwrap();
    put(store, "/survive/a", "1").await;
    let second = put(store, "/survive/a", "2").await;
    // etcd reads the previous value when it sends an event; it must not be compacted before.
    assert_eq!(summary(&events_until(&mut watch, second).await), ["+a=1", "~a=2"]);
    store.compact(second).await.unwrap();
    let last = put(store, "/survive/a", "3").await;
    assert_eq!(summary(&events_until(&mut watch, last).await), ["~a=3"]);
}

pub async fn a_revision_is_compacted_once(store: &dyn Store) {
    let first = put(store, "/once/a", "1").await;
    let second = put(store, "/once/a", "2").await;
    store.compact(second).await.unwrap();
    for revision in [first, second] {
        assert!(matches!(store.compact(revision).await, Err(Error::Compacted { .. })), "{revision}");
    }
    let far = second + 1_000_000;
    assert!(matches!(store.compact(far).await, Err(Error::FutureRevision { requested, .. }) if requested == far));
}

pub async fn revisions_go_on_after_compacting_a_delete(store: &dyn Store) {
    put(store, "/goes-on/a", "1").await;
    let deleted = commit(store, Txn::delete("/goes-on/a")).await;
    store.compact(deleted).await.unwrap();
    assert!(store.current_revision().await.unwrap() >= deleted);
    let created = commit(store, Txn::create("/goes-on/a", "2")).await;
    assert!(created > deleted);
    assert_eq!(value_at(store, "/goes-on/a", deleted).await, None);
    assert_eq!(get(store, "/goes-on/a").await.map(|kv| (kv.create_revision, kv.version)), Some((created, 1)));
}
