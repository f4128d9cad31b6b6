//! How the watch cache reads a store: page by page, with all objects of claimed resources.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::Bytes;
use storage::cache::{Cache, CacheOptions, Description, Entry, EntryDecoder, ResourceCache, Selection, WatchFrom};
use storage::{EmbeddedStore, KeyRange, KeyValue, Revision, Store, Txn};
use tokio::sync::watch::{Sender, channel};

/// Decodes values unchanged, or into another form after a hundred values if `changed` is set; counts its calls.
#[derive(Default)]
struct Counting {
    calls: AtomicUsize,
    /// Notified when the form changes.
    changed: Option<Sender<()>>,
    is_other: AtomicBool,
}

const OTHER_FORM: &[u8] = b"in another form";

impl EntryDecoder for Counting {
    fn describe(&self, kv: &KeyValue) -> Description {
        if self.calls.fetch_add(1, Ordering::Relaxed) == 100
            && let Some(changed) = &self.changed
        {
            self.is_other.store(true, Ordering::Relaxed);
            changed.send_replace(());
        }
        let object = if self.is_other.load(Ordering::Relaxed) { OTHER_FORM.into() } else { kv.value.clone() };
        Description { object, ..Description::default() }
    }

    fn at_revision(&self, entry: &Entry, _: Revision) -> Description {
        Description { object: entry.object.clone(), ..Description::default() }
    }
}

/// Number of objects of each of three resources, more than one page.
const OBJECTS: usize = 700;
const RESOURCES: [&str; 3] = ["/registry/as/", "/registry/bs/", "/registry/example.com/cs/"];

struct Fixture {
    store: Arc<dyn Store>,
    cache: Arc<Cache>,
    _folder: tempfile::TempDir,
}

impl Fixture {
    /// Creates a store with objects, and a cache that has not been started.
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let embedded = EmbeddedStore::open(folder.path().join("store")).unwrap();
        let store: Arc<dyn Store> = Arc::new(embedded);
        for resource in RESOURCES {
            let writes = (0..OBJECTS).map(|i| store.commit(Txn::create(format!("{resource}{i:04}"), format!("{i}"))));
            for outcome in futures_util::future::join_all(writes).await {
                outcome.unwrap();
            }
        }
        let options = CacheOptions { prefix: "/registry/".into(), encodings: 0, queue: 100 };
        Fixture { cache: Cache::new(store.clone(), options), store, _folder: folder }
    }

    fn claim(&self, resource: &'static str) -> (Arc<ResourceCache>, Arc<Counting>) {
        self.claim_as(resource, Counting::default())
    }

    fn claim_as(&self, resource: &'static str, describe: Counting) -> (Arc<ResourceCache>, Arc<Counting>) {
        let describe = Arc::new(describe);
        let claimed = self.cache.resource(&Bytes::from(resource), || describe.clone());
        (claimed, describe)
    }
}

fn fillings(resource: &ResourceCache) -> u64 {
    resource.counts().fillings.get()
}

#[tokio::test]
async fn objects_claimed_before_the_start_are_complete_and_decoded_once() {
    let f = Fixture::new().await;
    let (first, described) = f.claim(RESOURCES[0]);
    assert_eq!((first.size().0, f.cache.revision(), fillings(&first)), (0, 0, 0), "nothing is read before the start");
    f.cache.start().await.unwrap();
    let revision = f.store.current_revision().await.unwrap();
    assert_eq!((first.size().0, f.cache.revision(), first.snapshot().revision), (OBJECTS, revision, revision));
    assert_eq!((described.calls.load(Ordering::Relaxed), fillings(&first)), (OBJECTS, 1));
    assert!(first.watch(Selection::all(KeyRange::prefix(RESOURCES[0])), WatchFrom::After(revision)).is_some());
    for late in &RESOURCES[1..] {
        let (resource, described) = f.claim(late);
        assert_eq!((resource.size().0, described.calls.load(Ordering::Relaxed)), (OBJECTS, OBJECTS), "{late}");
    }
}

#[tokio::test]
async fn writes_during_the_first_read_are_not_lost() {
    let f = Fixture::new().await;
    let (first, _) = f.claim(RESOURCES[0]);
    let (started, written) = tokio::join!(f.cache.start(), f.store.commit(Txn::create("/registry/as/new", "new")));
    started.unwrap();
    assert!(f.cache.wait_for(written.unwrap().revision(), std::time::Duration::from_secs(10)).await);
    assert_eq!(first.size().0, OBJECTS + 1);
}

#[tokio::test]
async fn a_change_of_decoding_during_the_first_read_applies_to_all_objects() {
    let f = Fixture::new().await;
    let (changed, mut changes) = channel(());
    let (first, _) = f.claim_as(RESOURCES[0], Counting { changed: Some(changed), ..Counting::default() });
    let change = async {
        changes.changed().await.unwrap();
        first.redecode_all();
    };
    let (started, ()) = tokio::join!(f.cache.start(), change);
    started.unwrap();
    assert_eq!(first.size().0, OBJECTS);
    assert!(first.snapshot().iter().all(|entry| entry.object == OTHER_FORM));
}

#[tokio::test]
async fn resources_claimed_or_released_during_the_first_read_are_complete() {
    let f = Fixture::new().await;
    let (released, _) = f.claim(RESOURCES[0]);
    let claims = async {
        tokio::task::yield_now().await;
        f.cache.release(&Bytes::from(RESOURCES[0]));
        f.claim(RESOURCES[1])
    };
    let (started, (late, _)) = tokio::join!(f.cache.start(), claims);
    started.unwrap();
    assert_eq!((late.size().0, released.size().0), (OBJECTS, 0));
    assert_eq!(f.claim(RESOURCES[0]).0.size().0, OBJECTS, "the values are kept for the next claim");
}

#[tokio::test]
async fn a_resource_released_and_claimed_again_during_the_first_read_is_complete() {
    let f = Fixture::new().await;
    let (changed, mut changes) = channel(());
    let (released, _) = f.claim_as(RESOURCES[0], Counting { changed: Some(changed), ..Counting::default() });
    let claim = async {
        changes.changed().await.unwrap();
        f.cache.release(&Bytes::from(RESOURCES[0]));
        f.claim(RESOURCES[0]).0
    };
    let (started, claimed) = tokio::join!(f.cache.start(), claim);
    started.unwrap();
    assert_eq!((claimed.size().0, released.size().0), (OBJECTS, 0));
}
