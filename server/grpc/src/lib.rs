//! Calls of programs that speak gRPC, most of them at Unix sockets beside the server: KMS plugins, signers of tokens, proxies, collectors of traces.
//!
//! Their messages are made from `.proto` files where they are used.

mod client;
mod failure;

pub use client::{Client, socket};
pub use failure::{code_name, describe};
pub use tonic::{Code, Status, Streaming};
