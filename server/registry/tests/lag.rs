//! A cache that lags behind its store: who asks for the newest gets it from the store.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use common::{Anything, config_maps, create, embedded, within};
use registry::{DeleteOptions, ListQuery, Predicate};
use storage::{
    CountResponse, EmbeddedStore, GetResponse, KeyRange, ListOptions, ListResponse, Result, Revision, Store, Txn,
    TxnOutcome, Watch,
};

/// A store whose first watch, that of the cache, says nothing.
struct Silent(Arc<EmbeddedStore>, AtomicBool);

#[async_trait]
impl Store for Silent {
    async fn get(&self, key: &[u8], revision: Option<Revision>) -> Result<GetResponse> {
        self.0.get(key, revision).await
    }

    async fn list(&self, range: KeyRange, options: ListOptions) -> Result<ListResponse> {
        self.0.list(range, options).await
    }

    async fn count(&self, range: KeyRange) -> Result<CountResponse> {
        self.0.count(range).await
    }

    async fn commit(&self, txn: Txn) -> Result<TxnOutcome> {
        self.0.commit(txn).await
    }

    async fn watch(&self, range: KeyRange, from: Option<Revision>) -> Result<Watch> {
        match self.1.swap(true, Ordering::Relaxed) {
            false => Ok(Watch::new(futures_util::stream::pending())),
            true => self.0.watch(range, from).await,
        }
    }

    async fn request_progress(&self) -> Result<()> {
        Ok(())
    }

    async fn compact(&self, revision: Revision) -> Result<()> {
        self.0.compact(revision).await
    }

    async fn current_revision(&self) -> Result<Revision> {
        self.0.current_revision().await
    }

    async fn close(&self) -> Result<()> {
        self.0.close().await
    }
}

#[tokio::test]
async fn the_newest_is_read_from_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = embedded(&folder);
    let behind = config_maps(Arc::new(Silent(store.clone(), AtomicBool::new(false)))).await;
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
    assert_eq!((status.code, status.reason), (504, "Timeout"), "who names a revision waits for the cache");
    assert!(behind.list("a", &predicate, &any).await.unwrap().entries.is_empty(), "any state will do");
    create(&writer, "b", "four").await;
    assert!(watched.unwrap().next().await.unwrap().is_ok(), "a watch goes on where the client stopped");
}
