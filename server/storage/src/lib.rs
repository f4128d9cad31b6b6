//! The storage contract and its implementations.
//!
//! [`Store`] has etcd's semantics: a global revision, comparison of modification revisions, watches
//! from a revision, compaction, leases. Kubernetes defines its guarantees to clients in these terms.
//! [`EmbeddedStore`] keeps its data in one directory and needs no set-up; [`EtcdStore`] shares an etcd
//! with other servers. [`cache::Cache`] keeps the current state of a store in memory for reads and
//! watches.
//!
//! [`EmbeddedStore`] also has the rest of etcd's model ([`model`]), with which another crate serves
//! etcd's API.
//!
//! Keys and values are bytes in this crate. It must never depend on kinds, codecs or HTTP.
//!
//! # Examples
//!
//! ```
//! use storage::{EmbeddedStore, Store, Txn, TxnOutcome};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! let store = EmbeddedStore::open(dir.path())?;
//! let created = store.commit(Txn::create("/registry/things/a", "1")).await?;
//! let again = store.commit(Txn::create("/registry/things/a", "2")).await?;
//! assert!(matches!(created, TxnOutcome::Committed { .. }));
//! assert!(matches!(again, TxnOutcome::Conflict { .. }));
//!
//! let kv = store.get(b"/registry/things/a", None).await?.kv.expect("the key exists");
//! assert_eq!(kv.value, "1");
//! assert_eq!(kv.mod_revision, created.revision());
//! store.close().await?;
//! # Ok(())
//! # }
//! ```

#![deny(missing_docs)]
#![deny(clippy::missing_errors_doc)]

pub mod cache;
mod clock;
mod embedded;
mod error;
mod etcd;
mod key_value;
pub mod model;
mod range;
pub mod snapshot;
mod store;
mod txn;
mod watch;

pub use embedded::{EmbeddedOptions, EmbeddedStore, EmbeddedWatch, SpaceLimits, WatchHandle};
pub use error::{Error, Result};
pub use etcd::{DatabaseSize, EtcdOptions, EtcdStore};
pub use key_value::{KeyValue, LeaseId, Revision};
pub use range::KeyRange;
pub use store::{CountResponse, GetResponse, ListOptions, ListResponse, Store};
pub use txn::{Op, Txn, TxnOutcome};
pub use watch::{Event, EventKind, Watch, WatchBatch};
