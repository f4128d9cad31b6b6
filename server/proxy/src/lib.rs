//! Proxied requests to other servers: aggregated API servers, kubelets, pods and services.
//!
//! Callers determine the destination. This crate has the common parts: headers, protocol upgrades,
//! rewriting of links, and rejection of redirects.

mod error;
pub mod forward;
#[cfg(fuzzing)]
pub mod fuzzing;
pub mod headers;
mod identity;
mod location;
mod outgoing;
pub mod remote_command;
mod rewrite;
mod spdy;
mod throttle;
pub mod tunnel;
pub mod upgrade;
mod websocket;

pub use error::Error;
pub use forward::forward;
pub use location::{Location, escape_path};
pub use outgoing::{Caller, get_request, outgoing};
