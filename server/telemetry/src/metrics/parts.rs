//! The duration of filters (`apiserver_request_filter_duration_seconds`; upstream:
//! `filterlatency`).

use std::time::Instant;

use prometheus::{Histogram, HistogramVec, Registry};
use request::{BoxFuture, Handler, Request, Response};

use super::register::histograms;
use crate::traces::FilterSpan;

const SECONDS: [f64; 13] = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 5.0, 10.0, 15.0, 30.0];

/// The durations of filters. Clones share them.
#[derive(Clone)]
pub struct PartMetrics(HistogramVec);

/// When the current filter got the request from the enclosing one.
#[derive(Clone, Copy)]
struct Begun(Instant);

/// Records when a request enters the outermost filter.
pub struct Begin<H>(H);

/// Records how long a request took to pass a filter.
pub struct Through<H> {
    inner: H,
    took: Histogram,
}

impl PartMetrics {
    /// Creates the metric and registers it.
    pub(super) fn new(registry: &Registry) -> Self {
        let help = "Time that requests spent in each filter before the next one, in seconds.";
        PartMetrics(histograms(registry, "apiserver_request_filter_duration_seconds", help, &["filter"], &SECONDS))
    }

    /// Times the filter that `around` wraps around a handler, and makes it a trace span.
    pub fn part<H, F>(
        &self,
        name: &'static str,
        inner: H,
        around: impl FnOnce(Through<H>) -> F,
    ) -> FilterSpan<Begin<F>> {
        let took = self.0.with_label_values(&[name]);
        FilterSpan { name, inner: Begin(around(Through { inner, took })) }
    }
}

impl<H: Handler> Handler for Begin<H> {
    fn handle(&self, mut request: Request) -> BoxFuture<'_, Response> {
        if request.extensions().get::<Begun>().is_none() {
            request.extensions_mut().insert(Begun(Instant::now()));
        }
        self.0.handle(request)
    }
}

impl<H: Handler> Handler for Through<H> {
    fn handle(&self, mut request: Request) -> BoxFuture<'_, Response> {
        if let Some(Begun(at)) = request.extensions_mut().get_mut() {
            let now = Instant::now();
            self.took.observe((now - *at).as_secs_f64());
            *at = now;
        }
        self.inner.handle(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use request::testing::{ok, request};

    #[tokio::test]
    async fn filters_are_timed() {
        let registry = Registry::new();
        let metrics = PartMetrics::new(&registry);
        let inner = metrics.part("inner", ok(), |handler| handler);
        let both = metrics.part("outer", inner, |handler| handler);
        both.handle(request("GET", "/api")).await;
        let text = prometheus::TextEncoder::new().encode_to_string(&registry.gather()).unwrap();
        for name in ["inner", "outer"] {
            assert!(text.contains(&format!("_count{{filter=\"{name}\"}} 1\n")), "{text}");
        }
    }
}
