//! Handlers of verbs: one file per verb, each a function of (endpoint, call).

pub mod computed;
pub mod connect;
pub mod cost;
pub mod create;
pub mod delete;
pub mod delete_collection;
mod deprecation;
pub mod get;
pub mod list;
pub mod patch;
mod resource_request;
pub mod scale;
pub mod update;
pub mod watch;

use http::StatusCode;
use machinery::catalog::KindDef;
use machinery::status::Status;
use registry::{UpdateOptions, Updated, UpdatedObjectInfo, WriteContext};

use crate::endpoint::Endpoint;
pub use cost::RequestCost;
use deprecation::{MINOR, deprecation, removal};
pub use resource_request::ResourceRequest;
use scale::{AsScale, Scale};

/// Applies a change to the object itself or to its Scale.
async fn write(
    endpoint: &Endpoint,
    context: &WriteContext,
    name: &str,
    options: &UpdateOptions,
    scale: Option<&Scale<'_>>,
    mut change: impl UpdatedObjectInfo,
) -> Result<Updated, Status> {
    let store = endpoint.store()?;
    match scale {
        Some(scale) => store.update(context, name, options, &mut AsScale { scale, change }).await,
        None => store.update(context, name, options, &mut change).await,
    }
}

/// The status code of a write.
fn code(updated: &Updated) -> StatusCode {
    if updated.created { StatusCode::CREATED } else { StatusCode::OK }
}

/// Returns the release that removes a deprecated version; empty if none is declared. Returns
/// nothing if the version is not deprecated.
pub(crate) fn removed_release(kind: &KindDef) -> Option<String> {
    let deprecated = deprecation(kind).filter(|minor| *minor <= MINOR)?;
    Some(removal(kind, deprecated).map(|removed| format!("1.{removed}")).unwrap_or_default())
}
