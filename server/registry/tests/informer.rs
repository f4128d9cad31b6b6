//! Informers over the embedded store.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::sync::{Arc, Mutex};

use generated::core::v1::ConfigMap;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{
    Backend, CheckDelete, CheckWrite, Context, CreateOptions, DeclaredStrategy, DeleteOptions, Informer, Informers,
    Observer, ResourceStore, Stores,
};
use storage::EmbeddedStore;
use tempfile::TempDir;

async fn config_maps(folder: &TempDir) -> Arc<ResourceStore> {
    let kind = generated::CATALOG.resource("", "v1", "configmaps").unwrap();
    let def = kind.resource.unwrap();
    let store = Arc::new(EmbeddedStore::open(folder.path().join("store")).unwrap());
    let backend = Backend::start(store, "/registry").await.unwrap();
    let strategy = Arc::new(DeclaredStrategy::new(kind, def));
    Arc::new(ResourceStore::new(&generated::CATALOG, kind, def, strategy, &backend))
}

/// Nothing is kept from being deleted.
struct Anything;

#[async_trait::async_trait]
impl CheckDelete for Anything {
    async fn check(&self, _: &Owned) -> Result<(), Status> {
        Ok(())
    }
}

impl CheckWrite for Anything {}

async fn create(store: &ResourceStore, namespace: &str, name: &str) {
    let mut object = ConfigMap::default();
    object.metadata.name = name.into();
    let context = Context { namespace: namespace.into(), ..Context::default() };
    store.create(&context, Owned::of(object), &CreateOptions::default(), &mut Anything).await.unwrap();
}

fn names(objects: &[Arc<ConfigMap>]) -> Vec<String> {
    objects.iter().map(|o| format!("{}/{}", o.metadata.namespace, o.metadata.name)).collect()
}

#[tokio::test]
async fn objects_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let store = config_maps(&folder).await;
    create(&store, "a", "one").await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let observer: Observer<ConfigMap> = Box::new({
        let (seen, name) = (seen.clone(), |o: &Arc<ConfigMap>| o.metadata.name.clone());
        move |old, new| seen.lock().unwrap().push((old.map(name), new.map(name)))
    });
    let informer = Informer::observed(&store, vec![observer]);
    let mut changes = informer.changes();
    informer.synced().await;
    assert_eq!(names(&informer.all()), ["a/one"]);
    create(&store, "a-b", "two").await;
    changes.wait_for(|changes| *changes == 2).await.unwrap();
    assert_eq!(names(&informer.all()), ["a-b/two", "a/one"]);
    assert_eq!(names(&informer.in_namespace("a")), ["a/one"]);
    assert!(informer.get("a-b", "two").is_some() && informer.get("a", "two").is_none());
    let context = Context { namespace: "a".into(), ..Context::default() };
    store.delete(&context, "one", &DeleteOptions::default(), &Anything).await.unwrap();
    changes.wait_for(|changes| *changes == 3).await.unwrap();
    assert_eq!(names(&informer.all()), ["a-b/two"]);
    let (one, two) = (Some("one".to_owned()), Some("two".to_owned()));
    assert_eq!(*seen.lock().unwrap(), [(None, one.clone()), (None, two), (one, None)]);
}

#[tokio::test]
async fn those_who_ask_share_one() {
    let folder = tempfile::tempdir().unwrap();
    let stores = Stores::from([(("", "configmaps"), config_maps(&folder).await)]);
    let informers = Informers::new(Arc::new(stores));
    let (first, second) = (informers.of::<ConfigMap>("", "configmaps"), informers.of::<ConfigMap>("", "configmaps"));
    second.unwrap().synced().await;
    assert_eq!(*first.unwrap().changes().borrow(), 1);
    assert!(informers.of::<ConfigMap>("", "nothings").is_none());
}
