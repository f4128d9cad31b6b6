//! The tracer and its spans.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use options::Error;

use super::configuration::{self, Sampling};
use super::export::Exporter;
use super::messages::{KeyValue, Span, SpanKind};

/// Creates spans. Clones share the exporter.
#[derive(Clone)]
pub struct Tracer {
    pub(super) sampling: Sampling,
    pub(super) exporter: Exporter,
}

impl Tracer {
    /// Reads the configuration, and starts to export spans as `instance`. Requires a tokio runtime.
    ///
    /// # Errors
    /// The file is not a valid configuration.
    pub fn load(path: &Path, instance: &str) -> Result<Self, Error> {
        let text = std::fs::read(path).map_err(Error::file(path))?;
        let (sampling, collector) = configuration::parse(&text).map_err(|why| Error::content(path, why))?;
        let exporter = Exporter::start(&collector, instance).map_err(|why| Error::content(path, why))?;
        Ok(Tracer { sampling, exporter })
    }

    /// Exports the remaining spans.
    pub async fn close(&self) {
        self.exporter.close().await;
    }
}

/// The current span of a traced request; in its extensions.
#[derive(Clone)]
pub(super) struct Trace {
    pub(super) exporter: Exporter,
    pub(super) id: [u8; 16],
    pub(super) span: [u8; 8],
}

impl Trace {
    /// Starts a child span; returns the trace context within it, and the open span.
    pub(super) fn child(&self, name: String, attributes: Vec<KeyValue>) -> (Trace, Open) {
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

/// A span that ends on drop: a request may be cancelled at any time.
pub(super) struct Open {
    pub(super) exporter: Exporter,
    pub(super) span: Span,
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut span = std::mem::take(&mut self.span);
        span.end_time_unix_nano = now();
        self.exporter.send(span);
    }
}

/// Nanoseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
