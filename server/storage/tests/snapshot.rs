//! Snapshots of a running store. Their restore is complete; damaged snapshots and occupied targets are refused.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::{
    path::Path,
    sync::Arc,
    sync::atomic::{AtomicBool, Ordering},
};

use storage::{EmbeddedStore, Error, KeyRange, KeyValue, ListOptions, Store, Txn, TxnOutcome, snapshot};

async fn put(store: &EmbeddedStore, txn: Txn) -> u64 {
    match store.commit(txn).await.unwrap() {
        TxnOutcome::Committed { revision, .. } => revision,
        conflict => panic!("{conflict:?}"),
    }
}

async fn all(store: &EmbeddedStore) -> Vec<KeyValue> {
    store.list(KeyRange::prefix("/"), ListOptions::default()).await.unwrap().kvs
}

#[tokio::test]
async fn a_restored_store_continues_at_the_revision_of_the_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to, file) = (folder.path().join("from"), folder.path().join("to/store"), folder.path().join("file"));
    let store = EmbeddedStore::open(&from).unwrap();
    let first = put(&store, Txn::put("/a", "1")).await;
    put(&store, Txn::put("/a", "2")).await;
    put(&store, Txn::put("/leased", "1").with_ttl(3600)).await;
    put(&store, Txn::put("/gone", "1")).await;
    let last = put(&store, Txn::delete("/gone")).await;
    let summary = EmbeddedStore::save(&from, &file).unwrap();
    assert_eq!((summary.revision, summary.keys), (last, 2));
    let before = all(&store).await;
    put(&store, Txn::put("/later", "1")).await;

    assert_eq!(EmbeddedStore::restore(&to, &file).unwrap(), summary);
    let restored = EmbeddedStore::open(&to).unwrap();
    assert_eq!(all(&restored).await, before);
    assert_eq!(restored.current_revision().await.unwrap(), last);
    assert!(
        matches!(restored.get(b"/a", Some(first)).await, Err(Error::Compacted { compacted, .. }) if compacted == last)
    );
    let mut watch = restored.watch(KeyRange::prefix("/"), Some(last + 1)).await.unwrap();
    assert_eq!(put(&restored, Txn::update("/a", before[0].mod_revision, "3")).await, last + 1);
    assert_eq!(watch.next().await.unwrap().unwrap().revision(), last + 1);
    drop(restored);

    // The lease is restored too.
    let database = rusqlite::Connection::open(to.join("store.db")).unwrap();
    let leases = "SELECT count(*) FROM current WHERE expires_at IS NOT NULL";
    assert_eq!(database.query_row(leases, [], |row| row.get::<_, u32>(0)).unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_taken_under_load_shows_one_revision() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("from");
    let store = Arc::new(EmbeddedStore::open(&from).unwrap());
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..8)
        .map(|w| {
            let (store, stop) = (Arc::clone(&store), Arc::clone(&stop));
            tokio::spawn(async move {
                for i in 0.. {
                    put(&store, Txn::put(format!("/{w}/{}", i % 50), i.to_string())).await;
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                }
            })
        })
        .collect();
    for i in 0..5 {
        let (from, file) = (from.clone(), folder.path().join(format!("file{i}")));
        let to = folder.path().join(format!("to{i}"));
        let saved = tokio::task::spawn_blocking(move || {
            let summary = EmbeddedStore::save(&from, &file).unwrap();
            EmbeddedStore::restore(&to, &file).unwrap();
            (summary, to)
        });
        let (summary, to) = saved.await.unwrap();
        let restored = EmbeddedStore::open(to).unwrap();
        let options = ListOptions { revision: Some(summary.revision), limit: 0 };
        let then = store.list(KeyRange::prefix("/"), options).await.unwrap();
        assert_eq!(all(&restored).await, then.kvs);
    }
    stop.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
}

#[tokio::test]
async fn nothing_is_overwritten_and_nothing_damaged_is_restored() {
    let folder = tempfile::tempdir().unwrap();
    let (from, file) = (folder.path().join("from"), folder.path().join("file"));
    let store = EmbeddedStore::open(&from).unwrap();
    put(&store, Txn::put("/a", "1")).await;
    EmbeddedStore::save(&from, &file).unwrap();
    let refusal = |dir: &Path, file: &Path| EmbeddedStore::restore(dir, file).unwrap_err().to_string();

    let refused = refusal(&from, &file);
    assert!(refused.ends_with("already holds a store"), "{refused}");
    let letters = folder.path().join("letters");
    std::fs::create_dir(&letters).unwrap();
    std::fs::write(letters.join("a.txt"), "x").unwrap();
    assert!(refusal(&letters, &file).contains("a.txt"));
    let empty = folder.path().join("empty");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    assert!(refusal(&empty, &file).contains("damaged"));
    assert!(!empty.exists(), "a damaged snapshot is refused before anything is created");

    assert!(snapshot::status(&from.join("store.db")).unwrap_err().to_string().contains("not a snapshot"));
    let error = EmbeddedStore::save(&letters, folder.path().join("other")).unwrap_err();
    assert!(matches!(error, Error::Foreign { .. }), "{error}");
    let unwritable = EmbeddedStore::save(&from, Path::new("/nowhere/at/all")).unwrap_err();
    assert!(unwritable.to_string().contains("it cannot be written"), "{unwritable}");
}

#[tokio::test]
async fn an_interrupted_restore_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to, file) = (folder.path().join("from"), folder.path().join("to"), folder.path().join("file"));
    let store = EmbeddedStore::open(&from).unwrap();
    put(&store, Txn::put("/a", "1")).await;
    EmbeddedStore::save(&from, &file).unwrap();
    std::fs::create_dir(&to).unwrap();
    std::fs::write(to.join("store.db.restoring"), "half").unwrap();
    let refused = EmbeddedStore::open(&to).err().unwrap().to_string();
    assert!(refused.contains("store.db.restoring"), "{refused}");
    EmbeddedStore::restore(&to, &file).unwrap();
    assert_eq!(all(&EmbeddedStore::open(&to).unwrap()).await, all(&store).await);
}
