//! A cache that lags behind its store: who asks for the newest gets it from the store.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use generated::core::v1::ConfigMap;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{
    Backend, CheckDelete, CheckWrite, Context, CreateOptions, DeclaredStrategy, DeleteOptions, ListQuery, Predicate,
    ResourceStore,
};
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

async fn config_maps(store: Arc<dyn Store>) -> Arc<ResourceStore> {
    let kind = generated::CATALOG.resource("", "v1", "configmaps").unwrap();
    let def = kind.resource.unwrap();
    let backend = Backend::start(store, "/registry").await.unwrap();
    let strategy = Arc::new(DeclaredStrategy::new(kind, def));
    Arc::new(ResourceStore::new(&generated::CATALOG, kind, def, strategy, &backend))
}

struct Anything;

#[async_trait]
impl CheckDelete for Anything {
    async fn check(&self, _: &Owned) -> std::result::Result<(), Status> {
        Ok(())
    }
}

impl CheckWrite for Anything {}

async fn create(store: &ResourceStore, context: &Context, name: &str) {
    let mut object = ConfigMap::default();
    object.metadata.name = name.into();
    store.create(context, Owned::of(object), &CreateOptions::default(), &mut Anything).await.unwrap();
}

#[tokio::test]
async fn the_newest_is_read_from_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(EmbeddedStore::open(folder.path().join("store")).unwrap());
    let behind = config_maps(Arc::new(Silent(store.clone(), AtomicBool::new(false)))).await;
    let writer = config_maps(store).await;
    let context = Context { namespace: "a".into(), ..Context::default() };
    for name in ["one", "two", "three"] {
        create(&writer, &context, name).await;
    }
    let (predicate, page) = (Predicate::default(), ListQuery { limit: 2, ..ListQuery::default() });
    let options = DeleteOptions::default();
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
    create(&writer, &Context { namespace: "b".into(), ..Context::default() }, "four").await;
    assert!(watched.unwrap().next().await.unwrap().is_ok(), "a watch goes on where the client stopped");
}
