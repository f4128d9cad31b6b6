//! The filter that counts and times requests (upstream: `metrics.MonitorRequest`).

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use foldhash::quality::RandomState;
use http::StatusCode;
use http_body::{Frame, SizeHint};
use prometheus::{Histogram, IntCounter, IntGauge, Registry};
use request::{Body, BodyError, BoxFuture, Handler, Request, RequestExt, RequestInfo, Response};

use super::labels::{Labels, RequestHead, Routed};
use super::register::{GaugeGuard, counters, gauges, histograms};
use super::watches::WatchMetrics;

const LATENCIES: [f64; 23] = [
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0,
    45.0, 60.0,
];
const SIZES: [f64; 7] = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
const DEPRECATED: [&str; 5] = ["group", "version", "resource", "subresource", "removed_release"];
/// Linear, up to the limit of bodies.
const BODY_SIZES: [f64; 31] = body_sizes();

const fn body_sizes() -> [f64; 31] {
    let (mut sizes, mut index) = ([0.0; 31], 0);
    while index < sizes.len() {
        sizes[index] = 50_000.0 + 100_000.0 * index as f64;
        index += 1;
    }
    sizes
}

/// The time of a request that was spent waiting for other components; in the extensions of each
/// request.
#[derive(Clone, Default)]
pub struct Delayed(Arc<AtomicU64>);

impl Delayed {
    /// Adds time that was not spent in this server.
    pub fn add(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn get(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

/// Marks the response of a request that the server ended for self-protection; in its extensions.
#[derive(Clone, Copy)]
pub struct Terminated;

/// The metrics of requests. Clones share them.
#[derive(Clone)]
pub struct RequestMetrics(Arc<Shared>);

struct Shared {
    total: prometheus::IntCounterVec,
    duration: prometheus::HistogramVec,
    sli_duration: prometheus::HistogramVec,
    sizes: prometheus::HistogramVec,
    long_running: prometheus::IntGaugeVec,
    terminations: prometheus::IntCounterVec,
    aborts: prometheus::IntCounterVec,
    deprecated: prometheus::IntGaugeVec,
    bodies: prometheus::HistogramVec,
    validations: prometheus::HistogramVec,
    watches: WatchMetrics,
    hasher: RandomState,
    /// By a hash of their labels, so that a request needs one look-up.
    series: RwLock<HashMap<u64, Arc<Series>>>,
}

/// The series of requests with the same labels and status code.
struct Series {
    total: IntCounter,
    duration: Histogram,
    sli_duration: Option<Histogram>,
    sizes: Option<Histogram>,
    long_running: Option<IntGauge>,
    aborts: prometheus::IntCounterVec,
    /// The labels of `aborts`, which few requests need.
    labels: Vec<String>,
}

impl RequestMetrics {
    /// Creates the metrics and registers them.
    pub fn new(registry: &Registry) -> Self {
        let of = ["verb", "group", "version", "resource", "subresource", "scope", "component"];
        let with = |more: &[&'static str]| [&of[..], more].concat();
        RequestMetrics(Arc::new(Shared {
            total: counters(
                registry,
                "apiserver_request_total",
                "Number of requests, by verb, resource and status code.",
                &with(&["dry_run", "code"]),
            ),
            duration: histograms(
                registry,
                "apiserver_request_duration_seconds",
                "Duration of requests, in seconds.",
                &with(&["dry_run"]),
                &LATENCIES,
            ),
            sli_duration: histograms(
                registry,
                "apiserver_request_sli_duration_seconds",
                "Duration of requests without the time in flow control queues, in seconds.",
                &of,
                &LATENCIES[2..],
            ),
            sizes: histograms(
                registry,
                "apiserver_response_sizes",
                "Size of responses to reads, in bytes.",
                &of,
                &SIZES,
            ),
            long_running: gauges(
                registry,
                "apiserver_longrunning_requests",
                "Number of long-running requests in progress.",
                &of,
            ),
            terminations: counters(
                registry,
                "apiserver_request_terminations_total",
                "Number of requests terminated by overload protection or timeouts.",
                &with(&["code"]),
            ),
            aborts: counters(registry, "apiserver_request_aborts_total", "Number of aborted responses.", &of[..6]),
            deprecated: gauges(
                registry,
                "apiserver_requested_deprecated_apis",
                "Requested deprecated API versions, with the release that removes them.",
                &DEPRECATED,
            ),
            bodies: histograms(
                registry,
                "apiserver_request_body_size_bytes",
                "Size of request bodies by resource and verb, in bytes.",
                &["resource", "verb", "group"],
                &BODY_SIZES,
            ),
            validations: histograms(
                registry,
                "field_validation_request_duration_seconds",
                "Duration of requests by field validation mode, in seconds.",
                &["field_validation"],
                &LATENCIES[2..],
            ),
            watches: WatchMetrics::new(registry),
            hasher: RandomState::default(),
            series: RwLock::default(),
        }))
    }

    fn series(&self, labels: &Labels<'_>, code: StatusCode, is_long_running: bool) -> Arc<Series> {
        let key = self.0.hasher.hash_one((labels, code));
        let known = self.0.series.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        known.unwrap_or_else(|| {
            let (of, dry_run) = (labels.common(), labels.dry_run);
            // Upstream's writer does not see the status of upgraded connections.
            let shown = if code == StatusCode::SWITCHING_PROTOCOLS { "0" } else { code.as_str() };
            let series = Arc::new(Series {
                total: self.0.total.with_label_values(&[&of[..], &[dry_run, shown]].concat()),
                duration: self.0.duration.with_label_values(&[&of[..], &[dry_run]].concat()),
                sli_duration: dry_run.is_empty().then(|| self.0.sli_duration.with_label_values(&of)),
                sizes: is_read(labels.verb).then(|| self.0.sizes.with_label_values(&of)),
                long_running: is_long_running.then(|| self.0.long_running.with_label_values(&of)),
                aborts: self.0.aborts.clone(),
                labels: of[..6].iter().map(|label| (*label).to_owned()).collect(),
            });
            self.0.series.write().unwrap_or_else(PoisonError::into_inner).insert(key, series.clone());
            series
        })
    }

    /// Records the properties of a request that are known when its response begins.
    fn record_response(&self, labels: &Labels<'_>, info: &RequestInfo, response: &Response, body: u64) {
        if response.extensions().get::<Terminated>().is_some() {
            let code = response.status();
            self.0.terminations.with_label_values(&[&labels.common()[..], &[code.as_str()]].concat()).inc();
        }
        let Some(routed) = response.extensions().get::<Routed>() else { return };
        if let Some(release) = &routed.removed_release {
            let of = [labels.group, labels.version, labels.resource, labels.subresource, release];
            self.0.deprecated.with_label_values(&of).set(1);
        }
        let verb = match &*info.verb {
            "deletecollection" => "delete_collection",
            verb => verb,
        };
        if labels.verb != "CONNECT" && matches!(verb, "create" | "update" | "patch" | "delete" | "delete_collection") {
            self.0.bodies.with_label_values(&[labels.resource, verb, labels.group]).observe(body as f64);
        }
    }

    fn validation(&self, info: &RequestInfo) -> Histogram {
        let directive = match info.query.text("fieldValidation") {
            "Strict" => "Strict",
            "Warn" => "Warn",
            "Ignore" => "Ignore",
            "" => "",
            _ => "invalid",
        };
        self.0.validations.with_label_values(&[directive])
    }
}

/// Whether response sizes are recorded.
fn is_read(verb: &str) -> bool {
    matches!(verb, "GET" | "LIST" | "WATCH")
}

/// Counts and times requests until the end of their responses.
pub struct WithMetrics<H> {
    inner: H,
    metrics: RequestMetrics,
}

impl<H> WithMetrics<H> {
    /// Creates the filter with these metrics.
    pub fn new(inner: H, metrics: RequestMetrics) -> Self {
        WithMetrics { inner, metrics }
    }
}

impl<H: Handler> Handler for WithMetrics<H> {
    fn handle(&self, mut request: Request) -> BoxFuture<'_, Response> {
        let Some(info) = request.info().cloned() else { return self.inner.handle(request) };
        let head = RequestHead::new(request.method(), request.headers());
        let length = request.headers().get(http::header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        let body = length.and_then(|length| length.parse::<u64>().ok()).unwrap_or_default();
        let delayed = Delayed::default();
        request.extensions_mut().insert(delayed.clone());
        if info.verb == "watch" {
            request.extensions_mut().insert(self.metrics.0.watches.of(&info));
        }
        Box::pin(async move {
            let began = Instant::now();
            let response = self.inner.handle(request).await;
            let code = response.status();
            let is_routed = response.extensions().get::<Routed>().is_some();
            let Some(labels) = head.labels(&info, is_routed, code).filter(|_| is_counted(&info, &response)) else {
                return response;
            };
            let is_long_running = info.is_long_running();
            let series = self.metrics.series(&labels, code, is_long_running);
            self.metrics.record_response(&labels, &info, &response, body);
            let running = series.long_running.as_ref().filter(|_| is_long_running).map(GaugeGuard::new);
            let validation = self.metrics.validation(&info);
            let sending = Sending { series, began, delayed, _running: running, validation, bytes: 0 };
            response.map(|body| sending.wrap(body))
        })
    }
}

/// Of the discovery documents, upstream counts only the aggregated ones.
fn is_counted(info: &RequestInfo, response: &Response) -> bool {
    let aggregated = || {
        let kind = response.headers().get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        response.status() == StatusCode::NOT_MODIFIED
            || kind.is_some_and(|kind| kind.contains("as=APIGroupDiscoveryList"))
    };
    !matches!(info.path.as_str(), "/api" | "/apis") || aggregated()
}

/// A response being sent; its duration and size are recorded on drop.
struct Sending {
    series: Arc<Series>,
    began: Instant,
    delayed: Delayed,
    _running: Option<GaugeGuard>,
    validation: Histogram,
    bytes: u64,
}

impl Sending {
    fn wrap(mut self, body: Body) -> Body {
        if body.is_whole() {
            self.bytes = http_body::Body::size_hint(&body).lower();
            return body;
        }
        Body::layer(CountedBody { body, sending: Some(self) })
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        self.series.total.inc();
        self.series.duration.observe(took.as_secs_f64());
        self.validation.observe(took.as_secs_f64());
        if let Some(sli) = &self.series.sli_duration {
            sli.observe(took.saturating_sub(self.delayed.get()).as_secs_f64());
        }
        if let Some(sizes) = &self.series.sizes {
            sizes.observe(self.bytes as f64);
        }
    }
}

/// A body that counts its bytes.
struct CountedBody {
    body: Body,
    sending: Option<Sending>,
}

impl http_body::Body for CountedBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        match (&polled, &mut self.sending) {
            (Poll::Ready(Some(Ok(frame))), Some(sending)) => {
                sending.bytes += frame.data_ref().map_or(0, Bytes::len) as u64;
            }
            (Poll::Ready(ended), sending) => {
                if let (Some(Err(_)), Some(sending)) = (ended, &sending) {
                    sending.series.aborts.with_label_values(&sending.series.labels).inc();
                }
                *sending = None;
            }
            _ => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Metrics, MetricsHandler};
    use request::handler::FromFn;
    use request::respond;
    use request::testing::{request, seen};

    fn routed(make: impl Fn() -> Response + Send + Sync + 'static) -> impl Handler {
        FromFn(move |_| {
            let mut response = make();
            response.extensions_mut().insert(Routed { removed_release: Some("1.40".into()) });
            response
        })
    }

    fn stream() -> Response {
        Response::new(Body::stream(http_body_util::Empty::new().map_err(|e| match e {})))
    }

    fn broken() -> Response {
        let failed = http_body_util::Empty::new().map_err(|e| match e {});
        let failed = failed.with_trailers(std::future::ready(Some(Err::<http::HeaderMap, BodyError>("gone".into()))));
        Response::new(Body::stream(failed))
    }

    fn terminated() -> Response {
        let mut response = respond::text_error(429, "Too many requests, please try again later.");
        response.extensions_mut().insert(Terminated);
        response
    }

    async fn shown(metrics: &Metrics) -> String {
        let handler = MetricsHandler::new(metrics.clone(), Default::default(), true);
        seen(handler.handle(request("GET", "/metrics")).await).await.1
    }

    /// The value of the series of pods with this name prefix and label.
    fn value(text: &str, begin: &str, label: &str) -> String {
        let is_match = |l: &&str| l.starts_with(begin) && l.contains(label) && l.contains("resource=\"pods\"");
        let line = text.lines().find(is_match).unwrap_or_default();
        line.rsplit(' ').next().unwrap_or_default().to_owned()
    }

    #[tokio::test]
    async fn counts_requests() {
        let metrics = Metrics::default();
        let counted = |handler: Box<dyn Handler>| WithMetrics::new(handler, metrics.requests.clone());
        let good = counted(Box::new(routed(|| respond::bytes(200, respond::TEXT, "four"))));
        for uri in ["/api/v1/pods", "/api/v1/pods", "/healthz"] {
            good.handle(request("GET", uri)).await;
        }
        let missing = counted(Box::new(routed(respond::not_found)));
        missing.handle(request("GET", "/api/v1/namespaces/a/pods/b")).await;
        counted(Box::new(FromFn(|_| respond::not_found()))).handle(request("GET", "/api/v1/made-up")).await;
        let watching = counted(Box::new(routed(stream))).handle(request("GET", "/api/v1/pods?watch=1")).await;
        let text = shown(&metrics).await;
        assert!(!text.contains("made-up"));
        assert_eq!(value(&text, "apiserver_request_total", "code=\"200\""), "2");
        assert_eq!(value(&text, "apiserver_request_total", "code=\"404\""), "1");
        assert!(text.contains("subresource=\"/healthz\",verb=\"GET\",version=\"\"} 1\n"), "{text}");
        assert_eq!(value(&text, "apiserver_response_sizes_sum", "LIST"), "8");
        assert_eq!(value(&text, "apiserver_request_sli_duration_seconds_count", "LIST"), "2");
        assert_eq!(value(&text, "apiserver_longrunning_requests{", "WATCH"), "1");
        assert_eq!(value(&text, "apiserver_requested_deprecated_apis", "removed_release=\"1.40\""), "1");
        counted(Box::new(FromFn(|_| terminated()))).handle(request("GET", "/api/v1/pods")).await;
        let answer = counted(Box::new(routed(broken))).handle(request("GET", "/api/v1/pods")).await;
        assert!(answer.into_body().read(1).await.is_err());
        drop(watching);
        let text = shown(&metrics).await;
        assert_eq!(value(&text, "apiserver_request_terminations_total", "code=\"429\""), "1");
        assert_eq!(value(&text, "apiserver_request_aborts_total", "LIST"), "1");
        assert_eq!(value(&text, "apiserver_longrunning_requests{", "WATCH"), "0");
    }

    use http_body_util::BodyExt;
}
