//! Typed reads of stored objects for plugins.
//!
//! All reads of one request use the revision that its first read requested.

use std::sync::Arc;

use endpoints::AdmissionAttributes;
use machinery::reflect::Struct;
use machinery::status::Status;
use registry::Stores;

type Resource = (&'static str, &'static str);

/// Returns an object of a resource, or `None` when it does not exist.
pub async fn find<T: Struct>(
    stores: &Stores,
    attributes: &AdmissionAttributes,
    resource: Resource,
    (namespace, name): (&str, &str),
) -> Result<Option<Arc<T>>, Status> {
    match stores.get(&resource) {
        Some(store) => store.get_typed(namespace, name, &attributes.as_of).await,
        None => Ok(None),
    }
}

/// Returns all objects of a namespace. An empty namespace selects a cluster-scoped resource.
pub async fn find_all<T: Struct>(
    stores: &Stores,
    attributes: &AdmissionAttributes,
    resource: Resource,
    namespace: &str,
) -> Result<Vec<Arc<T>>, Status> {
    match stores.get(&resource) {
        Some(store) => store.list_typed(namespace, &attributes.as_of).await,
        None => Ok(Vec::new()),
    }
}
