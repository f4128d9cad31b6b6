//! The telemetry of the server: metrics, traces and the log (upstream: `component-base`).

#![deny(clippy::missing_errors_doc)]

mod error;
pub mod logging;
pub mod metrics;
pub mod traces;

pub use error::Error;
