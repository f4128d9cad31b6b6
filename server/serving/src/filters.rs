//! The filters that requests pass before a resource handler: one type each, composed by
//! [`crate::chain`].

mod audit;
mod audit_id;
mod authentication;
mod authorization;
mod console;
mod cors;
mod deadline;
mod detach;
mod fairness;
mod goaway;
mod headers;
mod http_log;
mod impersonation;
mod in_flight;
mod panic_recovery;
mod request_info;
mod retry_after;
mod timeout;
mod warnings;
mod watch_termination;
mod websocket;

pub use self::audit::WithAudit;
pub use self::console::{WithConsolePages, WithConsoleSessions};
pub use audit_id::WithAuditId;
pub use authentication::WithAuthentication;
pub use authorization::WithAuthorization;
pub use cors::WithCors;
pub use deadline::Deadline;
pub use detach::{Detach, WithDetachedWrites};
pub use fairness::WithFairness;
pub use goaway::WithGoaway;
pub use headers::WithDefaultHeaders;
pub use http_log::WithHttpLog;
pub use impersonation::WithImpersonation;
pub use in_flight::WithMaxInFlight;
pub use panic_recovery::WithPanicRecovery;
pub use request_info::WithRequestInfo;
pub use retry_after::WithRetryAfter;
pub use timeout::WithTimeout;
pub use warnings::WithWarnings;
pub use watch_termination::WithWatchTermination;
pub use websocket::WithWebSockets;
