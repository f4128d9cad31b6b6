//! Assembles a server from a catalog, the behaviour of its kinds, stores and admission.
//! `kube-apiserver` is one such server. A server of custom groups behind it is another.
//! `docs/library.md` describes both.

#![deny(missing_docs)]
#![deny(clippy::missing_errors_doc)]

mod admin_commands;
mod assets_command;
mod backends;
mod cache_metrics;
pub mod convert;
mod convert_command;
mod delegation;
mod enabled;
#[allow(missing_docs, reason = "the message of a variant states its meaning and its fields")]
pub mod error;
mod etcd_command;
mod etcd_service;
mod help_command;
mod huge_pages;
mod in_process;
mod list_sizes;
mod metered_store;
mod namespaces;
mod new_command;
mod run;
mod server;
mod snapshot_command;
mod standard_output;
mod start;
mod store_monitor;

pub use error::Error;
pub use in_process::{Client, InProcess};
pub use server::Server;

// Re-exports for implementations of admission plugins or stores.
pub use async_trait::async_trait;
pub use endpoints::{Admission, AdmissionAttributes, Background, KindExtensions, Operation, RunningServer};
pub use machinery::reflect::Owned;
pub use machinery::status::Status;
pub use request::Handler;
pub use storage::Store;
