//! Requests that are passed on to other servers: aggregated ones, kubelets, pods, services.
//!
//! Who may be reached and where is for callers to say. What stands here is what all of them have in common: which headers go along, how a
//! connection comes to speak another protocol, how pages behind a longer path stay usable, and that no redirect is followed.

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

pub use forward::forward;
pub use location::{Location, escape_path};
pub use outgoing::{Caller, outgoing, question};
