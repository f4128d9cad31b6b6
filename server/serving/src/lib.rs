//! The HTTP server: certificates, listener, handler chain and its filters, health, and the work pool.
//!
//! It accepts connections and passes requests through the filters to the first handler that deals
//! with resources. It depends neither on kinds nor on the store. A program uses it as follows:
//! [`options::Options::parse_from`] parses the command line; [`Server::prepare`] loads or generates
//! keys and listens; [`Server::run`] wraps the handler of the endpoints in the chain and serves it.

#![deny(clippy::missing_errors_doc)]

pub mod certificates;
pub mod chain;
mod debug;
pub mod error;
pub mod filters;
pub mod health;
mod link_tokens;
pub mod listener;
mod log_files;
pub mod server;
pub mod shutdown;
pub mod system_paths;
mod systemd;
#[cfg(test)]
#[path = "../../../tests/common/https_server.rs"]
mod testing;
pub mod version;
pub mod websocket;
pub mod work;
mod zpages;

pub use error::{Error, MainServerError};
pub use server::{Access, Handlers, Server};
