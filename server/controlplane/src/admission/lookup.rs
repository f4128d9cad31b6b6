//! What plugins look up: as new as the first of it that the request asked for.

use std::sync::Arc;

use endpoints::{Attributes, ServerContext};
use machinery::reflect::Struct;
use machinery::status::Status;

type Resource = (&'static str, &'static str);

/// An object of a resource; `None` when there is none of this name.
pub async fn find<T: Struct>(
    environment: &ServerContext,
    attributes: &Attributes,
    resource: Resource,
    (namespace, name): (&str, &str),
) -> Result<Option<Arc<T>>, Status> {
    match environment.stores.get(&resource) {
        Some(store) => store.get_typed(namespace, name, &attributes.as_of).await,
        None => Ok(None),
    }
}

/// All objects of a namespace, or of a cluster-scoped resource when it is empty.
pub async fn find_all<T: Struct>(
    environment: &ServerContext,
    attributes: &Attributes,
    resource: Resource,
    namespace: &str,
) -> Result<Vec<Arc<T>>, Status> {
    match environment.stores.get(&resource) {
        Some(store) => store.list_typed(namespace, &attributes.as_of).await,
        None => Ok(Vec::new()),
    }
}
