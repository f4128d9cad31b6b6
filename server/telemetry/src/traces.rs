//! Traces of requests, exported by OTLP over gRPC (`--tracing-config-file`; upstream:
//! `component-base/tracing`, `WithTracing`).
//!
//! A sampled request is a span with child spans: one for each filter, and one for the operation on
//! objects.

mod configuration;
mod export;
mod filter;
mod messages;
mod parent;
mod span;

pub use filter::{FilterSpan, WithResourceSpan, WithTracing};
pub use span::Tracer;

#[cfg(test)]
mod tests;
