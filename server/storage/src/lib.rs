//! The storage contract and its implementations.
//!
//! [`Store`] speaks etcd's terms (a global revision, compare on the modification revision, watch from a revision,
//! compaction, leases), because the guarantees Kubernetes gives its clients are written in them. [`EmbeddedStore`] keeps
//! everything in one directory and needs no set-up; [`EtcdStore`] shares an etcd with other servers.
//!
//! This crate knows keys and values as bytes. It must never know a kind, a codec or HTTP.

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
