//! Helpers for tests with a store of ConfigMaps, or of another resource.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]
#![allow(dead_code, reason = "not every test uses every helper")]

use std::sync::Arc;

use async_trait::async_trait;
use generated::core::v1::ConfigMap;
use machinery::defaulting::{apply_defaults, normalize};
use machinery::json::{self, Issues};
use machinery::reflect::Owned;
use machinery::scalar::Time;
use machinery::status::Status;
use registry::{
    Backend, CheckDelete, CheckWrite, CreateOptions, DeclaredStrategy, ResourceStore, UpdateOptions, UpdatedObjectInfo,
    WriteContext, meta, meta_mut,
};
use serde_json::Value;
use storage::{EmbeddedStore, Store};
use tempfile::TempDir;

pub fn embedded(folder: &TempDir) -> Arc<EmbeddedStore> {
    Arc::new(EmbeddedStore::open(folder.path().join("store")).unwrap())
}

pub async fn config_maps(store: Arc<dyn Store>) -> Arc<ResourceStore> {
    resource(store, "", "configmaps").await
}

/// The store of a resource in its version v1.
pub async fn resource(store: Arc<dyn Store>, group: &str, plural: &str) -> Arc<ResourceStore> {
    let kind = kubernetes::catalog().resource(group, "v1", plural).unwrap();
    let def = kind.resource.unwrap();
    let backend = Backend::start(store, "/registry").await.unwrap();
    let strategy = Arc::new(DeclaredStrategy::new(kubernetes::catalog(), kind, def));
    Arc::new(ResourceStore::new(kubernetes::catalog(), kind, def, strategy, &backend))
}

/// Allows every write and delete.
pub struct Anything;

#[async_trait]
impl CheckDelete for Anything {
    async fn check(&self, _: &Owned) -> Result<(), Status> {
        Ok(())
    }
}

impl CheckWrite for Anything {}

/// A change of the stored object, which sends no resourceVersion.
pub struct Edit<F>(pub F);

impl<F: Send> CheckWrite for Edit<F> {}

#[async_trait]
impl<F: FnMut(&mut Owned) + Send> UpdatedObjectInfo for Edit<F> {
    async fn apply(&mut self, current: Option<&Owned>) -> Result<Owned, Status> {
        let mut new = current.unwrap().clone();
        meta_mut(&mut new).unwrap().resource_version.clear();
        self.0(&mut new);
        Ok(new)
    }
}

/// Returns the context of a request for this namespace.
pub fn within(namespace: &str) -> WriteContext {
    WriteContext { namespace: namespace.into(), ..WriteContext::default() }
}

pub fn config_map(name: &str) -> Owned {
    let mut object = ConfigMap::default();
    object.metadata.name = name.into();
    Owned::of(object)
}

pub async fn create(store: &ResourceStore, namespace: &str, name: &str) {
    store.create(&within(namespace), config_map(name), &CreateOptions::default(), &mut Anything).await.unwrap();
}

/// An object of the kind of a store, as a request has it.
pub fn decoded(store: &ResourceStore, object: &Value) -> Owned {
    let kind = store.storage_kind;
    let mut value = Owned::new(kind.def);
    json::decode(object.to_string().as_bytes(), value.as_mut(), &mut Issues::ignore()).unwrap();
    apply_defaults(value.as_mut());
    let mut hub = kind.to_hub(value);
    normalize(hub.as_mut());
    hub
}

/// Creates an object in the namespace `n`.
pub async fn create_from(store: &ResourceStore, object: &Value) -> Owned {
    let object = decoded(store, object);
    store.create(&within("n"), object, &CreateOptions::default(), &mut Anything).await.unwrap()
}

/// Changes the object `a` in the namespace `n` without admission.
pub async fn edit(store: &ResourceStore, change: impl FnMut(&mut Owned) + Send) -> Result<Owned, Status> {
    let updated = store.update(&within("n"), "a", &UpdateOptions::default(), &mut Edit(change)).await?;
    Ok(updated.object)
}

/// Sets a value of the data of a config map.
pub fn set_data(object: &mut Owned, key: &str, value: &str) {
    object.as_mut().downcast::<ConfigMap>().unwrap().data.insert(key.into(), value.into());
}

pub fn data(object: &Owned) -> Vec<(String, String)> {
    object.downcast_ref::<ConfigMap>().unwrap().data.clone().into_iter().collect()
}

pub fn version(object: &Owned) -> String {
    meta(object.as_ref()).unwrap().resource_version.clone()
}

/// The code, reason and message of an error.
pub fn refusal<T>(result: Result<T, Status>) -> (u16, &'static str, String) {
    let Err(status) = result else { panic!("the request succeeded") };
    (status.code, status.reason, status.message)
}

/// Whether the object `a` of the namespace `n` is stored.
pub async fn exists(store: &ResourceStore) -> bool {
    store.get("n", "a", "").await.is_ok()
}

pub fn time(text: &str) -> Time {
    text.parse().unwrap()
}
