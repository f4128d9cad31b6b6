//! gRPC client for programs near the server, mostly at Unix sockets: KMS plugins, token signers,
//! proxies, trace collectors.
//!
//! The messages are generated from `.proto` files in the crates that use them.

mod client;
mod error;
mod failure;

pub use client::{Client, socket};
pub use error::Error;
pub use failure::{code_name, describe};
pub use tonic::{Code, Status, Streaming};
