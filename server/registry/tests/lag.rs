//! A cache that lags behind its store: reads of the latest state fall back to the store.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use common::{Anything, config_maps, create, embedded, within};
use generated::core::v1::ConfigMap;
use registry::{DeleteOptions, ListQuery, Predicate, ReadRevision};
use storage::{
    CountResponse, EmbeddedStore, GetResponse, KeyRange, ListOptions, ListResponse, Result, Revision, Store, Txn,
    TxnOutcome, Watch,
};

/// A store with a first watch, that of the cache, that sends no events unless `sends_events` is set.
struct LaggingStore {
    store: Arc<EmbeddedStore>,
    sends_events: AtomicBool,
    /// Number of reads of the current revision.
    revision_reads: AtomicUsize,
}

impl LaggingStore {
    fn new(store: Arc<EmbeddedStore>, sends_events: bool) -> Arc<Self> {
        Arc::new(LaggingStore {
            store,
            sends_events: AtomicBool::new(sends_events),
            revision_reads: AtomicUsize::new(0),
        })
    }
}

#[async_trait]
impl Store for LaggingStore {
    async fn get(&self, key: &[u8], revision: Option<Revision>) -> Result<GetResponse> {
        self.store.get(key, revision).await
    }

    async fn list(&self, range: KeyRange, options: ListOptions) -> Result<ListResponse> {
        self.store.list(range, options).await
    }

    async fn count(&self, range: KeyRange) -> Result<CountResponse> {
        self.store.count(range).await
    }

    async fn commit(&self, txn: Txn) -> Result<TxnOutcome> {
        self.store.commit(txn).await
    }

    async fn watch(&self, range: KeyRange, from: Option<Revision>) -> Result<Watch> {
        match self.sends_events.swap(true, Ordering::Relaxed) {
            false => Ok(Watch::new(futures_util::stream::pending())),
            true => self.store.watch(range, from).await,
        }
    }

    async fn request_progress(&self) -> Result<()> {
        Ok(())
    }

    async fn compact(&self, revision: Revision) -> Result<()> {
        self.store.compact(revision).await
    }

    async fn current_revision(&self) -> Result<Revision> {
        self.revision_reads.fetch_add(1, Ordering::Relaxed);
        self.store.current_revision().await
    }

    async fn close(&self) -> Result<()> {
        self.store.close().await
    }
}

#[tokio::test]
async fn the_latest_state_is_read_from_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = embedded(&folder);
    let behind = config_maps(LaggingStore::new(store.clone(), false)).await;
    let writer = config_maps(store).await;
    for name in ["one", "two", "three"] {
        create(&writer, "a", name).await;
    }
    let (predicate, page) = (Predicate::default(), ListQuery { limit: 2, ..ListQuery::default() });
    let (context, options) = (within("a"), DeleteOptions::default());
    let (got, listed, deleted) = tokio::join!(
        behind.get("a", "one", ""),
        behind.list("a", &predicate, &page),
        behind.delete(&context, "two", &options, &Anything),
    );
    assert!(got.is_ok() && deleted.is_ok());
    let listed = listed.unwrap();
    let names: Vec<_> = listed.entries.iter().map(|entry| String::from_utf8_lossy(&entry.key).into_owned()).collect();
    assert_eq!(names, ["/registry/configmaps/a/one", "/registry/configmaps/a/three"]);
    assert!(!listed.continue_token.is_empty() && listed.remaining == Some(1));
    let (future, any) =
        (listed.revision.to_string(), ListQuery { resource_version: "0".into(), ..ListQuery::default() });
    let after = ListQuery { resource_version: future.clone(), ..ListQuery::default() };
    let (got, watched) =
        tokio::join!(behind.get("a", "one", &future), behind.watch("b", &predicate, &after, false, None));
    let status = got.err().unwrap();
    assert_eq!((status.code, status.reason), (504, "Timeout"), "a read with a resourceVersion waits for the cache");
    assert!(
        behind.list("a", &predicate, &any).await.unwrap().entries.is_empty(),
        "resourceVersion 0 accepts any state"
    );
    create(&writer, "b", "four").await;
    assert!(watched.unwrap().next().await.unwrap().is_ok(), "a watch continues at the client's revision");
}

#[tokio::test]
async fn typed_reads_of_a_request_read_the_store_revision_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = LaggingStore::new(embedded(&folder), true);
    let maps = config_maps(store.clone()).await;
    create(&maps, "a", "one").await;
    create(&maps, "b", "two").await;
    let (as_of, before) = (ReadRevision::default(), store.revision_reads.load(Ordering::Relaxed));
    let found = maps.get_typed::<ConfigMap>("a", "one", &as_of).await.unwrap();
    let again = maps.get_typed::<ConfigMap>("a", "one", &as_of).await.unwrap();
    assert!(Arc::ptr_eq(&found.unwrap(), &again.unwrap()), "the object is decoded once");
    assert!(maps.get_typed::<ConfigMap>("a", "two", &as_of).await.unwrap().is_none());
    for (namespace, names) in [("b", vec!["two"]), ("", vec!["one", "two"]), ("c", vec![])] {
        let all = maps.list_typed::<ConfigMap>(namespace, &as_of).await.unwrap();
        assert_eq!(all.iter().map(|map| &map.metadata.name).collect::<Vec<_>>(), names);
    }
    assert_eq!(store.revision_reads.load(Ordering::Relaxed), before + 1);
    create(&maps, "a", "two").await;
    as_of.renew();
    assert!(
        maps.get_typed::<ConfigMap>("a", "two", &as_of).await.unwrap().is_some(),
        "the request sees its own writes"
    );
}

#[tokio::test]
async fn typed_reads_fall_back_to_the_store_when_the_cache_lags() {
    let folder = tempfile::tempdir().unwrap();
    let store = embedded(&folder);
    let behind = config_maps(LaggingStore::new(store.clone(), false)).await;
    let writer = config_maps(store).await;
    create(&writer, "a", "one").await;
    let as_of = ReadRevision::default();
    let (found, all) =
        tokio::join!(behind.get_typed::<ConfigMap>("a", "one", &as_of), behind.list_typed::<ConfigMap>("a", &as_of),);
    assert_eq!((found.unwrap().unwrap().metadata.name.as_str(), all.unwrap().len()), ("one", 1));
}
