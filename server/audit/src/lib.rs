//! Auditing: events that record the requests and their outcome (upstream: `apiserver/pkg/audit`).
//!
//! A [`Policy`] selects the audit level of a request. The [`AuditContext`] of a request collects data from every
//! part of the server and creates an event at each [`Stage`]. Events are sent to the configured [`Sink`]s. Without a
//! policy, auditing is disabled.

mod append;
mod audit;
mod buffer;
mod context;
mod error;
mod legacy;
mod level;
mod log;
mod object;
mod policy;
mod rotation;
mod sink;
mod source;
mod truncate;
mod webhook;

pub use self::audit::Audit;
pub use context::AuditContext;
pub use error::Error;
pub use level::{Level, Stage};
pub use policy::Policy;
pub use sink::Sink;
