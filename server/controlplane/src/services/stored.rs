//! The stored services.

use machinery::reflect::Struct;
use machinery::status::Status;
use registry::{Predicate, Stores};

/// The cluster IP of headless services (`ClusterIPNone`).
pub const NONE: &str = "None";

/// Lists all objects of a resource.
pub(super) async fn all<T: Struct>(stores: &Stores, resource: (&'static str, &'static str)) -> Result<Vec<T>, Status> {
    let Some(store) = stores.get(&resource) else { return Ok(Vec::new()) };
    let objects = store.objects("", &Predicate::default()).await?;
    Ok(objects.into_iter().filter_map(|object| object.into_inner().ok()).collect())
}
