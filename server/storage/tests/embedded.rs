//! The embedded store: the contract suite, and tests of its directory, restarts and slow watchers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[macro_use]
mod contract;

use std::{path::Path, time::Duration};

use bytes::Bytes;
use storage::{EmbeddedOptions, EmbeddedStore, Error, KeyRange, ListOptions, Store, Txn, WatchBatch};
use tempfile::TempDir;

use contract::{commit, events_until, get, next, outcome, put, summary};

async fn open() -> (EmbeddedStore, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    (EmbeddedStore::open(dir.path()).unwrap(), dir)
}

contract_suite!(open);

/// Returns the error of an open that must fail.
fn refusal(dir: &Path) -> Error {
    match EmbeddedStore::open(dir) {
        Err(error) => error,
        Ok(_) => panic!("{} was opened", dir.display()),
    }
}

/// Overwrites the only occurrence of a byte string in the database file.
fn damage(dir: &Path, find: &[u8], replacement: &[u8]) {
    let path = dir.join("store.db");
    let mut file = std::fs::read(&path).unwrap();
    let found: Vec<_> = (0..file.len() - find.len()).filter(|&at| file[at..].starts_with(find)).collect();
    assert_eq!(found.len(), 1, "{} occurrences", found.len());
    file[found[0]..][..replacement.len()].copy_from_slice(replacement);
    std::fs::write(path, file).unwrap();
}

#[tokio::test]
async fn everything_survives_a_restart() {
    let (store, dir) = open().await;
    let first = put(&store, "/a", "1").await;
    put(&store, "/a", "2").await;
    put(&store, "/b", "1").await;
    let last = commit(&store, Txn::delete("/b")).await;
    let before = get(&store, "/a").await;
    store.close().await.unwrap();

    let store = EmbeddedStore::open(dir.path()).unwrap();
    assert_eq!(store.current_revision().await.unwrap(), last);
    assert_eq!(get(&store, "/a").await, before);
    assert_eq!(contract::value_at(&store, "/a", first).await.as_deref(), Some("1"));
    let mut watch = store.watch(KeyRange::prefix("/"), Some(first)).await.unwrap();
    assert_eq!(summary(&events_until(&mut watch, last).await), ["+a=1", "~a=2", "+b=1", "-b"]);
    assert_eq!(put(&store, "/c", "1").await, last + 1);
}

#[tokio::test]
async fn a_revision_is_not_used_twice_when_the_last_delete_was_compacted() {
    let (store, dir) = open().await;
    put(&store, "/a", "1").await;
    let deleted = commit(&store, Txn::delete("/a")).await;
    store.compact(deleted).await.unwrap();
    drop(store);
    let store = EmbeddedStore::open(dir.path()).unwrap();
    assert_eq!(store.current_revision().await.unwrap(), deleted);
    assert_eq!(put(&store, "/a", "2").await, deleted + 1);
}

#[tokio::test]
async fn a_lease_survives_a_restart() {
    let (store, dir) = open().await;
    let created = commit(&store, Txn::create("/a", "1").with_ttl(1)).await;
    store.close().await.unwrap();
    let store = EmbeddedStore::open(dir.path()).unwrap();
    let mut watch = store.watch(KeyRange::prefix("/"), Some(created)).await.unwrap();
    assert_eq!(summary(&events_until(&mut watch, created + 1).await), ["+a=1", "-a"]);
}

#[tokio::test]
async fn a_directory_has_one_store_at_a_time() {
    let (store, dir) = open().await;
    let error = refusal(dir.path());
    assert!(matches!(error, Error::Locked { .. }), "{error}");
    assert!(error.to_string().contains("in use by another"), "{error}");
    store.close().await.unwrap();
    EmbeddedStore::open(dir.path()).unwrap();
}

#[tokio::test]
async fn a_closed_store_refuses_and_ends_watches() {
    let (store, _dir) = open().await;
    let mut watch = store.watch(KeyRange::prefix("/"), None).await.unwrap();
    let last = put(&store, "/a", "1").await;
    store.close().await.unwrap();
    store.close().await.unwrap();
    assert_eq!(summary(&events_until(&mut watch, last).await), ["+a=1"], "committed events are still delivered");
    assert!(matches!(outcome(&mut watch).await, Err(Error::Closed)));
    assert!(watch.next().await.is_none());
    assert!(matches!(store.commit(Txn::put("/a", "2")).await, Err(Error::Closed)));
    assert!(matches!(store.get(b"/a", None).await, Err(Error::Closed)));
    assert!(matches!(store.list(KeyRange::prefix("/"), ListOptions::default()).await, Err(Error::Closed)));
    assert!(matches!(store.watch(KeyRange::prefix("/"), None).await, Err(Error::Closed)));
    assert!(matches!(store.current_revision().await, Err(Error::Closed)));
}

#[test]
fn foreign_directories_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("letters.txt"), "x").unwrap();
    let error = refusal(dir.path());
    assert!(matches!(error, Error::Foreign { .. }) && error.to_string().contains("letters.txt"), "{error}");

    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("store.db"), "not a database, but long enough to have a header\n".repeat(100))
        .unwrap();
    let error = refusal(dir.path());
    assert!(matches!(error, Error::Foreign { .. }) && error.to_string().contains("not a database"), "{error}");

    let dir = tempfile::tempdir().unwrap();
    let other = rusqlite::Connection::open(dir.path().join("store.db")).unwrap();
    other.execute_batch("CREATE TABLE letters (text)").unwrap();
    drop(other);
    let error = refusal(dir.path());
    assert!(matches!(error, Error::Foreign { .. }) && error.to_string().contains("another program"), "{error}");

    let file = tempfile::NamedTempFile::new().unwrap();
    assert!(matches!(refusal(file.path()), Error::Foreign { .. }));
}

#[tokio::test]
async fn another_format_is_refused() {
    let (store, dir) = open().await;
    store.close().await.unwrap();
    let database = rusqlite::Connection::open(dir.path().join("store.db")).unwrap();
    database.pragma_update(None, "user_version", 99).unwrap();
    drop(database);
    let error = refusal(dir.path());
    assert!(matches!(error, Error::UnsupportedFormat { found: 99, .. }), "{error}");
}

#[tokio::test]
async fn a_damaged_database_is_named_with_a_remedy() {
    let (store, dir) = open().await;
    store.close().await.unwrap();
    let path = dir.path().join("store.db");
    let mut file = std::fs::read(&path).unwrap();
    file[100..2000].fill(0xff); // after the header
    std::fs::write(&path, file).unwrap();
    let error = refusal(dir.path()).to_string();
    assert!(error.contains(&format!("{}: ", path.display())) && error.contains("; restore a snapshot"), "{error}");
}

#[tokio::test]
async fn a_damaged_value_is_reported_by_key() {
    let (store, dir) = open().await;
    put(&store, "/secrets/default/a", "the value that is going to rot").await;
    put(&store, "/secrets/default/b", "another").await;
    store.close().await.unwrap();
    damage(dir.path(), b"going to rot", b"going TO rot");

    let store = EmbeddedStore::open(dir.path()).unwrap();
    let errors = [
        store.get(b"/secrets/default/a", None).await.map(drop),
        store.list(KeyRange::prefix("/secrets/"), ListOptions::default()).await.map(drop),
        store.commit(Txn::put("/secrets/default/a", "x")).await.map(drop),
    ];
    for result in errors {
        let error = result.unwrap_err();
        assert!(matches!(&error, Error::Corrupt { key: Some(key), .. } if key == "/secrets/default/a"), "{error}");
    }
    assert!(get(&store, "/secrets/default/b").await.is_some(), "the rest can be read");
    put(&store, "/secrets/default/b", "and written").await;
}

#[tokio::test]
async fn a_truncated_database_is_refused_or_reported() {
    let (store, dir) = open().await;
    for i in 0..200 {
        put(&store, &format!("/{i}"), &"x".repeat(1000)).await;
    }
    store.close().await.unwrap();
    let path = dir.path().join("store.db");
    let length = std::fs::metadata(&path).unwrap().len();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length / 2).unwrap();
    let error = match EmbeddedStore::open(dir.path()) {
        Err(error) => error,
        Ok(store) => store.list(KeyRange::prefix("/"), ListOptions::default()).await.map(drop).unwrap_err(),
    };
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
}

#[tokio::test]
async fn only_the_slow_watcher_is_ended() {
    let dir = tempfile::tempdir().unwrap();
    let options = EmbeddedOptions { watch_queue_bytes: 64 << 10, ..EmbeddedOptions::default() };
    let store = EmbeddedStore::open_with(dir.path(), options).unwrap();
    let mut slow = store.watch(KeyRange::prefix("/"), None).await.unwrap();
    let mut fast = store.watch(KeyRange::prefix("/"), None).await.unwrap();
    let mut elsewhere = store.watch(KeyRange::prefix("/elsewhere/"), None).await.unwrap();
    let value = Bytes::from(vec![b'x'; 4 << 10]);
    let mut last = 0;
    for _ in 0..40 {
        last = commit(&store, Txn::put("/a", value.clone())).await;
        events_until(&mut fast, last).await;
    }
    let mut seen = 0;
    let error = loop {
        match outcome(&mut slow).await {
            Ok(batch) => seen = batch.revision(),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::WatchTooSlow { limit } if limit == 64 << 10), "{error}");
    assert!(slow.next().await.is_none());
    assert!(seen > 0 && seen < last);
    // The slow watcher can resume after its last event, and the other watchers are not affected.
    let mut resumed = store.watch(KeyRange::prefix("/"), Some(seen + 1)).await.unwrap();
    assert_eq!(events_until(&mut resumed, last).await.len() as u64, last - seen);
    let after = put(&store, "/elsewhere/a", "1").await;
    assert_eq!(events_until(&mut fast, after).await.len(), 1);
    assert_eq!(events_until(&mut elsewhere, after).await.len(), 1);
}

#[tokio::test]
async fn the_store_compacts_periodically() {
    let dir = tempfile::tempdir().unwrap();
    let options =
        EmbeddedOptions { compaction_interval: Some(Duration::from_millis(20)), ..EmbeddedOptions::default() };
    let store = EmbeddedStore::open_with(dir.path(), options).unwrap();
    let first = put(&store, "/a", "0").await;
    // A failing read of the first revision is the only sign of a compaction.
    while store.get(b"/a", Some(first)).await.is_ok() {
        put(&store, "/a", "1").await;
    }
    let error = store.get(b"/a", Some(first)).await.unwrap_err();
    assert!(matches!(error, Error::Compacted { requested, .. } if requested == first), "{error}");
    assert!(get(&store, "/a").await.is_some());
}

#[tokio::test]
async fn compaction_removes_invisible_rows() {
    let (store, dir) = open().await;
    // More revisions than the writer purges in one transaction.
    let writes = (0..1500).map(|i| commit(&store, Txn::put(format!("/{}", i % 10), "x")));
    contract::writes::join(writes).await;
    let mut last = 0;
    for i in 0..5 {
        last = commit(&store, Txn::delete(format!("/{i}"))).await;
    }
    store.compact(last).await.unwrap();
    store.close().await.unwrap();

    // The store may have been closed before the purge was complete. It continues after a restart,
    // with each group of writes.
    let store = EmbeddedStore::open(dir.path()).unwrap();
    let database = rusqlite::Connection::open(dir.path().join("store.db")).unwrap();
    let number = |sql: &str| database.query_row(sql, [], |row| row.get::<_, u64>(0)).unwrap();
    let mut puts = 0;
    while puts == 0 || number("SELECT purged < compacted << 24 FROM compaction") == 1 {
        put(&store, "/0", "y").await;
        puts += 1;
    }
    assert_eq!(number("SELECT count(*) FROM current"), 7, "the delete of the compacted revision is kept");
    let kept = number("SELECT count(*) FROM history");
    assert_eq!(kept, 5 + 2 + puts, "five unchanged keys, the last delete with its key, and the later writes");
    assert_eq!(store.count(KeyRange::prefix("/")).await.unwrap().count, 6);
}

#[tokio::test]
async fn progress_follows_changes_outside_the_range() {
    let dir = tempfile::tempdir().unwrap();
    let options = EmbeddedOptions { progress_interval: Duration::from_millis(5), ..EmbeddedOptions::default() };
    let store = EmbeddedStore::open_with(dir.path(), options).unwrap();
    let mut watch = store.watch(KeyRange::prefix("/a/"), None).await.unwrap();
    let revision = put(&store, "/b/1", "x").await;
    assert_eq!(next(&mut watch).await, WatchBatch::Progress { revision });
}

#[tokio::test]
async fn a_long_history_is_replayed_in_chunks() {
    let (store, _dir) = open().await;
    let value = Bytes::from(vec![b'x'; 100 << 10]);
    let first = commit(&store, Txn::put("/a", value.clone())).await;
    let mut last = first;
    for _ in 0..40 {
        last = commit(&store, Txn::put("/a", value.clone())).await;
    }
    let mut watch = store.watch(KeyRange::prefix("/"), Some(first)).await.unwrap();
    assert_eq!(events_until(&mut watch, last).await.len() as u64, last - first + 1);
    let next = put(&store, "/b", "1").await;
    assert_eq!(summary(&events_until(&mut watch, next).await), ["+b=1"]);
}
