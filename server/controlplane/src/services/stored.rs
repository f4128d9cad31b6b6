//! The stored services.

use endpoints::ServerContext;
use machinery::reflect::Struct;
use machinery::status::Status;
use registry::Predicate;

/// The cluster IP of headless services (`ClusterIPNone`).
pub const NONE: &str = "None";

/// Lists all objects of a resource.
pub(super) async fn all<T: Struct>(
    environment: &ServerContext,
    resource: (&'static str, &'static str),
) -> Result<Vec<T>, Status> {
    let Some(store) = environment.stores.get(&resource) else { return Ok(Vec::new()) };
    let objects = store.objects("", &Predicate::default()).await?;
    Ok(objects.into_iter().filter_map(|object| object.into_inner().ok()).collect())
}
