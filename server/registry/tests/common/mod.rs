//! Helpers for tests with a store of ConfigMaps.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]
#![allow(dead_code, reason = "not every test uses every helper")]

use std::sync::Arc;

use async_trait::async_trait;
use generated::core::v1::ConfigMap;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{Backend, CheckDelete, CheckWrite, Context, CreateOptions, DeclaredStrategy, ResourceStore};
use storage::{EmbeddedStore, Store};
use tempfile::TempDir;

pub fn embedded(folder: &TempDir) -> Arc<EmbeddedStore> {
    Arc::new(EmbeddedStore::open(folder.path().join("store")).unwrap())
}

pub async fn config_maps(store: Arc<dyn Store>) -> Arc<ResourceStore> {
    let kind = kubernetes::catalog().resource("", "v1", "configmaps").unwrap();
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

/// Returns the context of a request for this namespace.
pub fn within(namespace: &str) -> Context {
    Context { namespace: namespace.into(), ..Context::default() }
}

pub async fn create(store: &ResourceStore, namespace: &str, name: &str) {
    let mut object = ConfigMap::default();
    object.metadata.name = name.into();
    store.create(&within(namespace), Owned::of(object), &CreateOptions::default(), &mut Anything).await.unwrap();
}
