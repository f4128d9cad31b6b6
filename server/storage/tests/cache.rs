//! The watch cache on the embedded store: reads and watches.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use storage::cache::{
    Cache, CacheOptions, Description, Entry, EntryDecoder, LabelsAndFields, Matches, ResourceCache, Selection,
    WatchFrom, Watcher,
};
use storage::{EmbeddedStore, KeyRange, KeyValue, Revision, Store, Txn, TxnOutcome};

/// Decodes texts such as `red web`: the value of the only field, and of the label `app`.
struct Texts;

impl EntryDecoder for Texts {
    fn describe(&self, kv: &KeyValue) -> Description {
        let text = String::from_utf8(kv.value.to_vec()).unwrap();
        let (field, label) = text.split_once(' ').unwrap_or((&text, ""));
        let attributes = LabelsAndFields::new(&[field.to_string()], [("app", label)]);
        Description { object: format!("{text}@{}", kv.mod_revision).into(), attributes, stored: None, damage: None }
    }

    fn at_revision(&self, entry: &Entry, revision: Revision) -> Description {
        let object = format!("{} gone@{revision}", text(entry)).into();
        Description { object, attributes: entry.attributes.clone(), stored: None, damage: None }
    }
}

fn text(entry: &Entry) -> &str {
    std::str::from_utf8(&entry.object).unwrap()
}

struct Fixture {
    store: Arc<dyn Store>,
    cache: Arc<Cache>,
    things: Arc<ResourceCache>,
    _folder: tempfile::TempDir,
}

impl Fixture {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(folder.path().join("store")).unwrap());
        store.commit(Txn::create("/registry/things/a/early", "red web")).await.unwrap();
        let options = CacheOptions { prefix: "/registry/".into(), encodings: 1 << 20, queue: 100 };
        let cache = Cache::new(store.clone(), options);
        cache.start().await.unwrap();
        let things = cache.resource(&Bytes::from("/registry/things/"), || Arc::new(Texts));
        Fixture { store, cache, things, _folder: folder }
    }

    async fn put(&self, name: &str, value: &'static str) -> Revision {
        let outcome = self.store.commit(Txn::put(format!("/registry/things/{name}"), value)).await.unwrap();
        self.seen(outcome).await
    }

    async fn delete(&self, name: &str) -> Revision {
        let outcome = self.store.commit(Txn::delete(format!("/registry/things/{name}"))).await.unwrap();
        self.seen(outcome).await
    }

    async fn seen(&self, outcome: TxnOutcome) -> Revision {
        assert!(self.cache.wait_for(outcome.revision(), Duration::from_secs(10)).await);
        outcome.revision()
    }

    fn watch(&self, selection: Selection, from: WatchFrom) -> Arc<Watcher> {
        self.things.watch(selection, from).expect("nothing was missed").watcher
    }
}

fn everything() -> Selection {
    Selection::all(KeyRange::prefix("/registry/things/"))
}

fn with_field(value: &'static str) -> Selection {
    let matches: Matches = Box::new(move |entry| entry.attributes.field(0) == value);
    Selection { field: Some((0, value.into())), matches: Some(matches), ..everything() }
}

fn waiting(watcher: &Watcher) -> Vec<String> {
    std::iter::from_fn(|| watcher.try_next()).map(|seen| format!("{:?} {}", seen.kind, text(&seen.entry))).collect()
}

#[tokio::test]
async fn a_snapshot_does_not_change() {
    let f = Fixture::new().await;
    f.put("a/b", "blue web").await;
    let before = f.things.snapshot();
    f.put("b/c", "red db").await;
    f.delete("a/early").await;
    let names = |snapshot: &storage::cache::Snapshot, range: &str| -> Vec<String> {
        snapshot.range(&KeyRange::prefix(range.to_string())).map(|entry| text(entry).into()).collect()
    };
    assert_eq!(names(&before, "/registry/things/"), ["blue web@3", "red web@2"]);
    let after = f.things.snapshot();
    assert_eq!(names(&after, "/registry/things/"), ["blue web@3", "red db@4"]);
    assert_eq!(names(&after, "/registry/things/b/"), ["red db@4"]);
    assert_eq!((before.revision, after.revision), (3, 5));
}

#[tokio::test]
async fn an_index_is_updated_by_changes() {
    let f = Fixture::new().await;
    f.put("a/b", "blue web").await;
    let all = KeyRange::prefix("/registry/things/");
    let red = |snapshot: &storage::cache::Snapshot| -> Vec<String> {
        snapshot.with_field(0, "red", &all).expect("the index is there").map(|entry| text(entry).into()).collect()
    };
    assert!(f.things.snapshot().with_field(0, "red", &all).is_none());
    assert_eq!(red(&f.things.snapshot_by_field(0)), ["red web@2"]);
    f.put("a/b", "red web").await;
    f.put("a/early", "green web").await;
    assert_eq!(red(&f.things.snapshot()), ["red web@4"]);
    f.delete("a/b").await;
    assert_eq!(red(&f.things.snapshot()), [""; 0]);
}

#[tokio::test]
async fn a_watcher_gets_events_for_its_selection() {
    let f = Fixture::new().await;
    let start = f.cache.revision();
    let (all, red) = (f.watch(everything(), WatchFrom::State), f.watch(with_field("red"), WatchFrom::State));
    let one =
        Selection { key: Some("/registry/things/a/b".into()), ..Selection::all(KeyRange::key("/registry/things/a/b")) };
    let one = f.watch(one, WatchFrom::After(start));
    f.put("a/b", "red web").await;
    f.put("a/b", "blue web").await;
    f.put("a/early", "red db").await;
    f.delete("a/early").await;
    f.delete("a/never").await;
    let early = ["Modified red db@5", "Deleted red db@5 gone@6"];
    assert_eq!(waiting(&all), [&["Added red web@3", "Modified blue web@4"], &early[..]].concat());
    assert_eq!(waiting(&red), [&["Added red web@3", "Deleted red web@3 gone@4"], &early[..]].concat());
    assert_eq!(waiting(&one), ["Added red web@3", "Modified blue web@4"]);
    assert!(all.is_idle());
    // A later watch from the same revision gets the same events.
    assert_eq!(waiting(&f.watch(with_field("red"), WatchFrom::After(4))), early);
}

#[tokio::test]
async fn a_watch_from_before_the_first_list_is_left_to_the_store() {
    let f = Fixture::new().await;
    assert!(f.things.watch(everything(), WatchFrom::After(1)).is_none());
    assert!(f.things.watch(everything(), WatchFrom::After(2)).is_some());
}

#[tokio::test]
async fn values_of_an_unclaimed_resource_are_kept_until_it_is_claimed() {
    let f = Fixture::new().await;
    for (name, value) in [("a", "1"), ("b", "2"), ("a", "3")] {
        f.seen(f.store.commit(Txn::put(format!("/registry/example.com/others/{name}"), value)).await.unwrap()).await;
    }
    let others = f.cache.resource(&Bytes::from("/registry/example.com/others/"), || Arc::new(Texts));
    let snapshot = others.snapshot();
    let all = KeyRange::prefix("/registry/");
    assert_eq!(snapshot.range(&all).map(|entry| text(entry)).collect::<Vec<_>>(), ["3@5", "2@4"]);
    f.seen(f.store.commit(Txn::put("/registry/example.com/others/c", "4")).await.unwrap()).await;
    assert_eq!((others.snapshot().len(), f.things.snapshot().len()), (3, 1));
}

#[tokio::test]
async fn only_the_watcher_that_does_not_read_is_ended() {
    let f = Fixture::new().await;
    let (stalled, reading) = (f.watch(everything(), WatchFrom::State), f.watch(everything(), WatchFrom::State));
    let mut count = 0;
    let mut ended = false;
    while !ended {
        let revision = f.put("a/b", "red web").await;
        count += waiting(&reading).len();
        ended = f.things.watchers_len() == 1;
        assert!(revision < 1000, "the watch of the stalled reader did not end");
    }
    assert!(poll_fn(|context| stalled.poll_next(context)).await.is_none());
    assert_eq!(count as u64, f.cache.revision() - 2);
}

#[tokio::test]
async fn creates_of_large_objects_do_not_end_a_slow_watch() {
    let f = Fixture::new().await;
    let slow = f.watch(everything(), WatchFrom::State);
    let value = format!("red {}", "x".repeat(1 << 20)).leak();
    for number in 0..20 {
        f.put(&format!("a/{number}"), value).await;
    }
    assert_eq!(waiting(&slow).len(), 20, "current objects do not count");
    for number in 0..20 {
        f.put(&format!("a/{number}"), "red web").await;
    }
    assert!(
        poll_fn(|context| slow.poll_next(context)).await.is_none(),
        "the size of replaced objects in the queue is limited"
    );
}

#[tokio::test]
async fn cached_encodings_stay_within_the_budget() {
    let f = Fixture::new().await;
    let (first, second) = (f.things.get(b"/registry/things/a/early").unwrap(), {
        f.put("a/b", "blue web").await;
        f.things.get(b"/registry/things/a/b").unwrap()
    });
    let large = || Bytes::from(vec![0; 700 << 10]);
    first.keep_encoding(1, &large());
    assert_eq!((first.encoding(1).is_some(), f.cache.encoded_bytes()), (true, 700 << 10));
    second.keep_encoding(1, &large());
    assert_eq!((first.encoding(1).is_some(), second.encoding(1).is_some()), (false, true));
    let sending = second.encoding(1);
    first.keep_encoding(2, &large());
    assert!(sending.is_some() && second.encoding(1).is_some(), "an encoding in use is not evicted");
    drop(second);
    f.delete("a/b").await;
    f.put("a/early", "red web").await;
}
