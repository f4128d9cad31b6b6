//! The storage contract and its implementations.
//!
//! [`Store`] has etcd's semantics: a global revision, comparison of modification revisions, watches
//! from a revision, compaction, leases. Kubernetes defines its guarantees to clients in these terms.
//! [`EmbeddedStore`] keeps its data in one directory and needs no set-up; [`EtcdStore`] shares an etcd
//! with other servers.
//!
//! Keys and values are bytes in this crate. It must never depend on kinds, codecs or HTTP.

pub mod cache;
mod clock;
mod embedded;
mod error;
mod etcd;
mod range;
pub mod snapshot;
mod store;
mod txn;
mod watch;

pub use embedded::{EmbeddedOptions, EmbeddedStore, SpaceLimits};
pub use error::{Error, Result};
pub use etcd::{DatabaseSize, EtcdOptions, EtcdStore};
pub use range::KeyRange;
pub use store::{CountResponse, GetResponse, KeyValue, ListOptions, ListResponse, Revision, Store};
pub use txn::{Op, Txn, TxnOutcome};
pub use watch::{Event, EventKind, Watch, WatchBatch};
