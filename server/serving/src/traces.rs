//! Traces of requests, for a collector that speaks OpenTelemetry's protocol over gRPC (`--tracing-config-file`; upstream:
//! `component-base/tracing`, `WithTracing`).
//!
//! A request that is sampled is a span with spans in it: one for each filter it goes through, and one for what it asks for.

mod configuration;
mod export;
mod filter;
mod messages;
mod parent;

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) use filter::{Asked, Part, WithTracing};

use crate::Error;
use configuration::Sampling;
use export::Exporter;
use messages::{KeyValue, Span, SpanKind};

/// Makes spans. Clones share what they are sent through.
#[derive(Clone)]
pub struct Tracer {
    sampling: Sampling,
    exporter: Exporter,
}

impl Tracer {
    /// Reads the configuration, and begins to send spans as `instance`. Needs a tokio runtime.
    ///
    /// # Errors
    /// When the file is none of a configuration.
    pub(crate) fn load(path: &Path, instance: &str) -> Result<Self, Error> {
        let text = std::fs::read(path).map_err(Error::file(path))?;
        let (sampling, collector) = configuration::parse(&text).map_err(|why| Error::content(path, why))?;
        let exporter = Exporter::start(&collector, instance).map_err(|why| Error::content(path, why))?;
        Ok(Tracer { sampling, exporter })
    }

    /// Sends what is not sent yet.
    pub(crate) async fn close(&self) {
        self.exporter.close().await;
    }
}

/// The span that whoever handles a request works in; in the extensions of a request that is traced.
#[derive(Clone)]
struct Trace {
    exporter: Exporter,
    id: [u8; 16],
    span: [u8; 8],
}

impl Trace {
    /// Begins a span within this one, and gives what works in it.
    fn part(&self, name: String, attributes: Vec<KeyValue>) -> (Trace, Open) {
        let id: [u8; 8] = rand::random();
        let span = Span {
            trace_id: self.id.into(),
            span_id: id.into(),
            parent_span_id: self.span.into(),
            name,
            kind: SpanKind::Internal.into(),
            start_time_unix_nano: now(),
            attributes,
            ..Span::default()
        };
        (Trace { span: id, ..self.clone() }, Open { exporter: self.exporter.clone(), span })
    }
}

/// A span that ends when this is dropped: a request may be given up at any time.
struct Open {
    exporter: Exporter,
    span: Span,
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut span = std::mem::take(&mut self.span);
        span.end_time_unix_nano = now();
        self.exporter.send(span);
    }
}

/// Nanoseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
