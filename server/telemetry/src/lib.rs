//! The telemetry of the server: metrics, traces and the log (upstream: `component-base`).

pub mod logging;
pub mod metrics;
pub mod traces;
