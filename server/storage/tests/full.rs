//! The rest of etcd's model on the embedded store: transactions of several keys, ranges with filters
//! and order, leases, watches that continue, checksums, and stores of the old format.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt;
use storage::{
    EmbeddedOptions, EmbeddedStore, EmbeddedWatch, Error, EventKind, KeyRange, KeyValue, LeaseId, ListOptions,
    Revision, Store, Txn, WatchBatch,
    model::{
        Compare, DeleteRange, Filter, Operand, Order, Property, Put, RangeQuery, RangeResult, Relation, Request,
        Response, Transaction, TransactionResult,
    },
};
use tempfile::TempDir;

fn open() -> (EmbeddedStore, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    (reopen(&dir), dir)
}

fn reopen(dir: &TempDir) -> EmbeddedStore {
    let options = EmbeddedOptions { compaction_interval: None, ..EmbeddedOptions::default() };
    EmbeddedStore::open_with(dir.path(), options).unwrap()
}

fn put(key: &str, value: &str) -> Request {
    Request::Put(Put { key: key.to_owned().into(), value: value.to_owned().into(), ..Put::default() })
}

fn leased(key: &str, lease: LeaseId) -> Request {
    Request::Put(Put { key: key.to_owned().into(), lease, ..Put::default() })
}

fn delete(range: KeyRange) -> Request {
    Request::Delete(DeleteRange { range, prev_kv: true })
}

fn read(range: KeyRange) -> Request {
    Request::Range(RangeQuery::new(range))
}

fn all() -> KeyRange {
    KeyRange::prefix("")
}

async fn transact(
    store: &EmbeddedStore,
    compare: Vec<Compare>,
    success: Vec<Request>,
    failure: Vec<Request>,
) -> TransactionResult {
    match store.transact(Request::Transaction(Transaction { compare, success, failure })).await.unwrap() {
        Response::Transaction(result) => result,
        other => panic!("{other:?}"),
    }
}

async fn write(store: &EmbeddedStore, requests: Vec<Request>) -> Revision {
    transact(store, Vec::new(), requests, Vec::new()).await.revision
}

async fn range(store: &EmbeddedStore, query: RangeQuery) -> RangeResult {
    store.range(query).await.unwrap()
}

fn names(kvs: &[KeyValue]) -> Vec<&str> {
    kvs.iter().map(|kv| std::str::from_utf8(&kv.key).unwrap()).collect()
}

async fn events_until(watch: &mut EmbeddedWatch, last: Revision) -> Vec<(EventKind, String, Revision)> {
    let mut seen = Vec::new();
    while seen.last().is_none_or(|(_, _, revision)| *revision < last) {
        let batch = tokio::time::timeout(Duration::from_secs(60), watch.next()).await.unwrap().unwrap().unwrap();
        let WatchBatch::Events { events, .. } = batch else { panic!("no progress is delivered") };
        let line =
            |event: &storage::Event| (event.kind, String::from_utf8(event.kv.key.to_vec()).unwrap(), event.revision());
        seen.extend(events.iter().map(|event| line(event)));
    }
    seen
}

/// Polls a condition until it holds.
async fn until(mut holds: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds().await {
        assert!(Instant::now() < end, "the condition does not come to hold");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_transaction_writes_several_keys_at_one_revision() {
    let (store, dir) = open();
    let first = write(&store, vec![put("b", "1"), put("a", "1"), put("c", "1")]).await;
    let second = write(&store, vec![delete(KeyRange::prefix("a")), put("b", "2"), read(all())]).await;
    assert_eq!(second, first + 1);
    drop(store);
    let store = reopen(&dir);
    assert_eq!(store.current_revision().await.unwrap(), second);
    let now = range(&store, RangeQuery::new(all())).await;
    assert_eq!(names(&now.kvs), ["b", "c"]);
    assert_eq!((now.kvs[0].create_revision, now.kvs[0].mod_revision, now.kvs[0].version), (first, second, 2));
    let before = range(&store, RangeQuery { revision: Some(first), ..RangeQuery::new(all()) }).await;
    assert_eq!((names(&before.kvs), before.revision), (vec!["a", "b", "c"], second));
    let listed = store.list(all(), ListOptions { revision: Some(first), limit: 1 }).await.unwrap();
    assert_eq!((listed.count, listed.more), (3, true));

    let mut watch = store.watch_all(all(), Some(first)).await.unwrap();
    let seen = events_until(&mut watch, second).await;
    let expected = [("b", first), ("a", first), ("c", first), ("a", second), ("b", second)];
    assert_eq!(seen.iter().map(|(_, key, revision)| (&**key, *revision)).collect::<Vec<_>>(), expected);
    assert_eq!(seen[3].0, EventKind::Delete);
}

#[tokio::test]
async fn comparisons_choose_between_nested_transactions_before_anything_is_written() {
    let (store, _dir) = open();
    write(&store, vec![put("a", "1")]).await;
    let missing = |key: &'static str| Compare {
        range: KeyRange::key(key),
        condition: Relation::Equal,
        with: Operand::Version(0),
    };
    let nested = Request::Transaction(Transaction {
        compare: vec![missing("new")],
        success: vec![put("nested", "yes"), read(KeyRange::key("new"))],
        failure: vec![put("nested", "no")],
    });
    let result = transact(&store, vec![missing("a")], vec![], vec![put("new", "1"), nested]).await;
    assert!(!result.succeeded);
    let [Response::Put(first), Response::Transaction(inner)] = &result.responses[..] else { panic!("{result:?}") };
    assert!(inner.succeeded, "the key was missing before the transaction");
    let Response::Range(seen) = &inner.responses[1] else { panic!("{inner:?}") };
    assert_eq!((seen.kvs.len(), seen.revision), (1, first.revision), "a read sees the writes before it");
    assert_eq!(result.revision, first.revision);
}

#[tokio::test]
async fn a_transaction_that_fails_half_way_leaves_no_trace() {
    let (store, _dir) = open();
    let before = write(&store, vec![put("a", "1")]).await;
    let bad = [
        leased("b", 77),
        Request::Put(Put { key: "missing".into(), ignore_value: true, ..Put::default() }),
        Request::Range(RangeQuery { revision: Some(before + 9), ..RangeQuery::new(all()) }),
    ];
    for bad in bad {
        let success = vec![put("a", "2"), delete(KeyRange::key("a")), bad];
        let outcome = store.transact(Request::Transaction(Transaction { success, ..Transaction::default() })).await;
        let error = outcome.unwrap_err();
        assert!(matches!(error, Error::LeaseNotFound | Error::KeyNotFound | Error::FutureRevision { .. }), "{error}");
    }
    assert_eq!(store.current_revision().await.unwrap(), before);
    assert_eq!(store.get(b"a", None).await.unwrap().kv.unwrap().value, "1");
}

#[tokio::test]
async fn a_range_is_filtered_sorted_and_limited() {
    let (store, _dir) = open();
    for (key, value) in [("a", "3"), ("b", "1"), ("c", "2"), ("b", "0")] {
        write(&store, vec![put(key, value)]).await;
    }
    let sorted =
        |by, descending, limit| RangeQuery { order: Some(Order { by, descending }), limit, ..RangeQuery::new(all()) };
    for (query, expected, more) in [
        (sorted(Property::Key, true, 0), vec!["c", "b", "a"], false),
        (sorted(Property::Value, false, 0), vec!["b", "c", "a"], false),
        (sorted(Property::ModRevision, true, 2), vec!["b", "c"], true),
        (sorted(Property::CreateRevision, false, 1), vec!["a"], true),
        (sorted(Property::Version, true, 1), vec!["b"], true),
        (RangeQuery { limit: 2, ..RangeQuery::new(all()) }, vec!["a", "b"], true),
    ] {
        let result = range(&store, query.clone()).await;
        assert_eq!((names(&result.kvs), result.more, result.count), (expected, more, 3), "{query:?}");
    }
    let last = store.current_revision().await.unwrap();
    let filter = Filter { min_mod: last.cast_signed(), ..Filter::default() };
    let filtered = range(&store, RangeQuery { filter, keys_only: true, ..RangeQuery::new(all()) }).await;
    assert_eq!((names(&filtered.kvs), filtered.count), (vec!["b"], 3));
    assert!(filtered.kvs[0].value.is_empty());
    let counted = range(&store, RangeQuery { count_only: true, ..RangeQuery::new(all()) }).await;
    assert_eq!((counted.count, counted.kvs.len()), (3, 0));
}

#[tokio::test]
async fn a_lease_removes_its_keys_when_revoked_or_expired() {
    let (store, dir) = open();
    store.grant_lease(7, 3600).await.unwrap();
    assert!(matches!(store.grant_lease(7, 1).await, Err(Error::LeaseExists)));
    write(&store, vec![leased("a", 7), leased("b", 7), leased("c", 7)]).await;
    write(&store, vec![put("b", "without"), delete(KeyRange::key("c"))]).await;
    assert_eq!(store.lease(7, true).await.unwrap().unwrap().keys, ["a"]);
    assert_eq!(store.get(b"a", None).await.unwrap().kv.unwrap().lease, 7);
    let before = store.current_revision().await.unwrap();
    store.revoke_lease(7).await.unwrap();
    assert!(matches!(store.revoke_lease(7).await, Err(Error::LeaseNotFound)));
    assert_eq!(store.current_revision().await.unwrap(), before + 1);
    assert_eq!(names(&range(&store, RangeQuery::new(all())).await.kvs), ["b"]);
    assert!(store.leases().is_empty() && store.renew_lease(7).is_none());

    store.grant_lease(8, 1).await.unwrap();
    store.grant_lease(9, 2).await.unwrap();
    write(&store, vec![leased("x", 8), leased("y", 8), leased("z", 9)]).await;
    store.close().await.unwrap();
    drop(store);
    let store = reopen(&dir);
    assert_eq!(store.leases(), [8, 9], "leases are durable, and start again in full");
    until(async || store.get(b"z", None).await.unwrap().kv.is_none()).await;
    assert_eq!(names(&range(&store, RangeQuery::new(all())).await.kvs), ["b"]);
    assert!(store.leases().is_empty());
}

#[tokio::test]
async fn a_renewed_lease_keeps_its_keys() {
    let (store, _dir) = open();
    store.grant_lease(1, 1).await.unwrap();
    write(&store, vec![leased("a", 1)]).await;
    let end = Instant::now() + Duration::from_secs(3);
    while Instant::now() < end {
        assert_eq!(store.renew_lease(1), Some(1));
        assert!(store.get(b"a", None).await.unwrap().kv.is_some());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    until(async || store.get(b"a", None).await.unwrap().kv.is_none()).await;
    assert_eq!(store.renew_lease(1), None);
}

#[tokio::test]
async fn a_slow_watch_continues_from_the_history() {
    let (store, _dir) = open();
    let mut watch = store.watch_all(all(), None).await.unwrap();
    let mut one = store.watch_all(KeyRange::key("/7"), None).await.unwrap();
    let value = Bytes::from(vec![b'x'; 100 << 10]);
    let mut last = 0;
    for i in 0..64 {
        let request = Put { key: format!("/{}", i % 8).into(), value: value.clone(), ..Put::default() };
        last = match store.transact(Request::Put(request)).await.unwrap() {
            Response::Put(result) => result.revision,
            other => panic!("{other:?}"),
        };
    }
    assert_eq!(store.caught_up([&watch.handle()]), None, "more events wait than fit into the queue");
    let seen = events_until(&mut watch, last).await;
    assert!(seen.windows(2).all(|pair| pair[0].2 + 1 == pair[1].2));
    assert_eq!(seen.len(), 64);
    assert_eq!(events_until(&mut one, last).await.len(), 8);
    assert_eq!(store.caught_up([&watch.handle(), &one.handle()]), Some(last));
}

#[tokio::test]
async fn a_watch_can_begin_at_the_compacted_revision() {
    let (store, _dir) = open();
    write(&store, vec![put("a", "1")]).await;
    let deleted = write(&store, vec![delete(KeyRange::key("a")), put("b", "1")]).await;
    let last = write(&store, vec![put("c", "1")]).await;
    store.compact_physically(deleted).await.unwrap();
    let mut watch = store.watch_all(all(), Some(deleted)).await.unwrap();
    let seen = events_until(&mut watch, last).await;
    assert_eq!(seen.iter().map(|(_, key, _)| &**key).collect::<Vec<_>>(), ["a", "b", "c"]);
    let refused = store.watch_all(all(), Some(deleted - 1)).await.map(drop).unwrap_err();
    assert!(matches!(refused, Error::Compacted { compacted, .. } if compacted == deleted), "{refused}");
    // The next compaction removes what the first one kept.
    store.compact_physically(last).await.unwrap();
    assert_eq!(names(&range(&store, RangeQuery::new(all())).await.kvs), ["b", "c"]);
}

#[tokio::test]
async fn a_watch_from_revision_one_of_a_new_store_waits() {
    let (store, _dir) = open();
    let mut watch = store.watch_all(all(), Some(1)).await.unwrap();
    let first = write(&store, vec![put("a", "1")]).await;
    assert_eq!(events_until(&mut watch, first).await.len(), 1);
}

#[tokio::test]
async fn the_checksum_does_not_depend_on_when_rows_are_removed() {
    let (store, _dir) = open();
    for i in 0..50 {
        write(&store, vec![put(&format!("{}", i % 7), "x"), delete(KeyRange::key(format!("{}", (i + 3) % 7)))]).await;
    }
    let last = store.current_revision().await.unwrap();
    store.compact(last - 10).await.unwrap();
    let early = store.hash_history(Some(last)).await.unwrap();
    assert_eq!((early.compacted, early.hash_revision), (last - 10, last));
    write(&store, vec![put("later", "x")]).await;
    store.defragment().await.unwrap();
    assert_eq!(store.hash_history(Some(last)).await.unwrap().hash, early.hash);
    assert!(matches!(store.hash_history(Some(last - 11)).await, Err(Error::Compacted { .. })));
}

#[tokio::test]
async fn defragmentation_returns_unused_space() {
    let (store, _dir) = open();
    let value = "x".repeat(100 << 10);
    for i in 0..40 {
        write(&store, vec![put(&format!("{i}"), &value)]).await;
    }
    let last = write(&store, vec![delete(all())]).await;
    let last = last.max(write(&store, vec![put("a", "1")]).await);
    store.compact_physically(last).await.unwrap();
    let before = store.sizes().unwrap();
    assert!(before.total > 3 << 20 && before.in_use < before.total, "{before:?}");
    store.defragment().await.unwrap();
    let after = store.sizes().unwrap();
    assert!(after.total < 1 << 20 && after.total <= before.in_use + (64 << 10), "{before:?} {after:?}");
    assert_eq!(names(&range(&store, RangeQuery::new(all())).await.kvs), ["a"]);
}

#[tokio::test]
async fn a_snapshot_keeps_several_keys_of_a_revision_and_leases_as_times() {
    let (store, dir) = open();
    store.grant_lease(5, 3600).await.unwrap();
    let last = write(&store, vec![put("a", "1"), put("b", "1"), leased("c", 5)]).await;
    let file = dir.path().join("snapshot");
    EmbeddedStore::save(dir.path(), &file).unwrap();
    let to = dir.path().join("copy");
    EmbeddedStore::restore(&to, &file).unwrap();
    let copy = EmbeddedStore::open(&to).unwrap();
    let kvs = range(&copy, RangeQuery::new(all())).await.kvs;
    assert!(kvs.len() == 3 && kvs.iter().all(|kv| kv.mod_revision == last));
    assert_eq!(copy.current_revision().await.unwrap(), last);
    let database = rusqlite::Connection::open(to.join("store.db")).unwrap();
    let times = "SELECT count(*) FROM current WHERE expires_at IS NOT NULL";
    assert_eq!(database.query_row(times, [], |row| row.get::<_, u32>(0)).unwrap(), 1);
}

#[tokio::test]
async fn alarms_are_durable() {
    let (store, dir) = open();
    store.raise_alarm(u64::MAX, 1).await.unwrap();
    store.raise_alarm(u64::MAX, 1).await.unwrap();
    store.raise_alarm(3, 2).await.unwrap();
    drop(store);
    let store = reopen(&dir);
    assert_eq!(store.alarms().unwrap().len(), 2);
    store.clear_alarm(u64::MAX, 1).await.unwrap();
    assert_eq!(store.alarms().unwrap(), [(3, 2)]);
}

/// Makes the tables of format 1, with the contents of a store that was written by `commit`.
fn downgrade(dir: &TempDir) {
    let database = rusqlite::Connection::open(dir.path().join("store.db")).unwrap();
    database
        .execute_batch(
            "CREATE TABLE old (revision INTEGER PRIMARY KEY, prev_revision INTEGER NOT NULL,
                 create_revision INTEGER NOT NULL, version INTEGER NOT NULL, checksum INTEGER NOT NULL,
                 key BLOB NOT NULL, value BLOB NOT NULL) STRICT;
             INSERT INTO old SELECT id >> 24, prev_id >> 24, create_revision, version, checksum, key, value FROM history;
             DROP TABLE history;
             ALTER TABLE old RENAME TO history;
             DROP INDEX current_by_expiry;
             CREATE TABLE old (key BLOB PRIMARY KEY, revision INTEGER NOT NULL, live INTEGER NOT NULL,
                 expires_at INTEGER) STRICT, WITHOUT ROWID;
             INSERT INTO old SELECT key, id >> 24, live, expires_at FROM current;
             DROP TABLE current;
             ALTER TABLE old RENAME TO current;
             CREATE INDEX current_by_expiry ON current (expires_at) WHERE expires_at IS NOT NULL;
             DROP TABLE lease;
             DROP TABLE alarm;
             PRAGMA user_version = 1;",
        )
        .unwrap();
}

#[tokio::test]
async fn a_store_of_the_old_format_is_converted() {
    let (store, dir) = open();
    for i in 0..30 {
        store.commit(Txn::put(format!("/{}", i % 5), format!("{i}")).with_ttl(i % 2 * 3600)).await.unwrap();
    }
    let first = store.commit(Txn::delete("/0")).await.unwrap().revision();
    store.commit(Txn::put("/1", "last")).await.unwrap();
    let before = store.list(all(), ListOptions::default()).await.unwrap();
    store.close().await.unwrap();
    drop(store);
    downgrade(&dir);
    assert!(matches!(
        EmbeddedStore::save(dir.path(), dir.path().join("file")),
        Err(Error::UnsupportedFormat { found: 1, .. })
    ));
    let store = reopen(&dir);
    assert_eq!(store.list(all(), ListOptions::default()).await.unwrap(), before);
    let mut watch = store.watch_all(all(), Some(first)).await.unwrap();
    assert_eq!(events_until(&mut watch, before.revision).await.len(), 2);
    let next = write(&store, vec![put("/0", "again"), put("/1", "again")]).await;
    assert_eq!(next, before.revision + 1);
}
