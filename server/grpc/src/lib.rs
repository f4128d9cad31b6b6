//! Calls of programs that speak gRPC, most of them at Unix sockets beside the server: KMS plugins, signers of tokens, proxies, collectors of traces.
//!
//! Their messages are written down by hand where they are used, as etcd's are (`docs/decisions/0003-etcd-client.md`).

mod client;
mod failure;

pub use client::{Client, socket};
pub use failure::{code_name, describe};
pub use tonic::{Code, Status, Streaming};
