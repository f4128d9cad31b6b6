//! The generic REST store: the verbs for any kind, on descriptors, a [`Strategy`] and a [`storage::Store`].
//!
//! It is independent of HTTP and of concrete kinds. Objects are in hub form; endpoints convert from and to the
//! requested version.
//!
//! # Examples
//!
//! ```
//! use std::sync::Arc;
//!
//! use generated::core::v1::ConfigMap;
//! use machinery::{reflect::Owned, status::Status};
//! use registry::{
//!     Backend, CheckWrite, CreateOptions, DeclaredStrategy, ListQuery, Predicate, ResourceStore, WriteContext,
//! };
//!
//! /// Admits every object.
//! struct Anything;
//! impl CheckWrite for Anything {}
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Status> {
//! # let dir = tempfile::tempdir().map_err(Status::internal)?;
//! # let store = storage::EmbeddedStore::open(dir.path()).map_err(Status::internal)?;
//! let backend = Backend::start(Arc::new(store), "/registry").await.map_err(Status::internal)?;
//! let catalog = kubernetes::catalog();
//! let kind = catalog.resource("", "v1", "configmaps").expect("a kind of the catalog");
//! let def = kind.resource.expect("the kind has a resource");
//! let strategy = Arc::new(DeclaredStrategy::new(catalog, kind, def));
//! let config_maps = ResourceStore::new(catalog, kind, def, strategy, &backend);
//!
//! let mut object = ConfigMap::default();
//! object.metadata.name = "settings".into();
//! let context = WriteContext { namespace: "default".into(), ..WriteContext::default() };
//! config_maps.create(&context, Owned::of(object), &CreateOptions::default(), &mut Anything).await?;
//!
//! let stored = config_maps.get("default", "settings", "").await?;
//! assert_eq!(stored.downcast_ref::<ConfigMap>().expect("the hub type").metadata.name, "settings");
//! let listed = config_maps.list("", &Predicate::default(), &ListQuery::default()).await?;
//! assert_eq!(listed.entries.len(), 1);
//! # Ok(())
//! # }
//! ```

#![deny(missing_docs)]
#![deny(clippy::missing_errors_doc)]

mod clock;
mod complete;
mod converted;
mod corrupt;
mod create;
mod delete;
mod describe;
mod error;
mod follow;
#[cfg(fuzzing)]
pub mod fuzzing;
mod guaranteed_update;
mod index_uses;
mod informer;
mod list;
mod list_counts;
mod lookup;
mod metadata;
mod names;
mod open;
mod options;
mod ownership;
mod page_snapshots;
mod recent;
mod resource;
mod rules;
mod select;
mod source;
mod stored;
mod stored_reads;
mod strategy;
mod update;
mod validation;
mod versions;
mod watch;
mod watch_events;
mod write_hook;

pub use clock::{Clock, SystemClock};
pub use delete::{CheckDelete, Deleted};
pub use error::Error;
pub use follow::{ReflectorEvent, follow};
pub use index_uses::IndexUse;
pub use informer::{Informer, Informers, Observer, Stores};
pub use list::Listed;
pub use lookup::ReadRevision;
pub use machinery::hooks::Propagation;
pub use metadata::{MetaExt, changes_only_ownership, ensure_namespace, meta, meta_mut};
pub use names::random_suffix;
pub use options::{CreateOptions, DeleteOptions, ListQuery, Precondition, UpdateOptions};
pub use ownership::keep_times;
pub use resource::{Backend, ResourceStore, parse_resource_version};
pub use rules::kind_type;
pub use select::Predicate;
pub use source::{ObjectSource, computed_entry};
pub use storage::cache::ChangeKind;
pub use storage::cache::EntryDecoder;
pub use strategy::{DeclaredStrategy, Strategy, WriteContext};
pub use update::{CheckWrite, Updated, UpdatedObjectInfo};
pub use validation::of_kind as validate_metadata;
pub use versions::{VersionConverter, is_text};
pub use watch::WatchStream;
pub use watch_events::WatchEvent;
pub use write_hook::{Reservation, ReservationGuard, WriteHook, WriteOutcome};
