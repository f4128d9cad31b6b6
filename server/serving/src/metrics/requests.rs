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

use super::watches::WatchMetrics;
use super::{counters, gauges, histograms};
use crate::body::{Body, BodyError};
use crate::handler::{BoxFuture, Handler, Request, RequestExt, Response};
use crate::request_info::RequestInfo;

const LATENCIES: [f64; 24] = [
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0,
    45.0, 60.0, 120.0,
];
const SIZES: [f64; 7] = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
const COMPONENT: &str = "apiserver";

/// The part of a request's time that was not spent on it; in the extensions of each request, for whoever makes it wait.
#[derive(Clone, Default)]
pub struct Delayed(Arc<AtomicU64>);

impl Delayed {
    /// Notes time that was spent waiting for something else than this server.
    pub fn add(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn get(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

/// The server ended a request to protect itself; in the extensions of such an answer.
#[derive(Clone, Copy)]
pub(crate) struct Terminated;

/// What is counted of requests. Clones share it.
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
    watches: WatchMetrics,
    hasher: RandomState,
    /// By a hash of their labels, so that a request looks all of them up at once.
    series: RwLock<HashMap<u64, Arc<Series>>>,
}

/// Everything that is kept of requests that are alike, and were answered alike.
struct Series {
    total: IntCounter,
    duration: Histogram,
    sli_duration: Histogram,
    sizes: Histogram,
    long_running: IntGauge,
    aborts: IntCounter,
}

/// Labels of a request, in the order of the metrics: verb, group, version, resource, subresource, scope.
type Labels<'r> = [&'r str; 6];

impl RequestMetrics {
    /// Makes the metrics, and adds them to a registry.
    pub fn new(registry: &Registry) -> Self {
        let of = ["verb", "group", "version", "resource", "subresource", "scope", "component"];
        let with = |more: &[&'static str]| [&of[..], more].concat();
        RequestMetrics(Arc::new(Shared {
            total: counters(
                registry,
                "apiserver_request_total",
                "Requests by what they asked for, and how they were answered.",
                &with(&["dry_run", "code"]),
            ),
            duration: histograms(
                registry,
                "apiserver_request_duration_seconds",
                "How long requests took.",
                &with(&["dry_run"]),
                &LATENCIES,
            ),
            sli_duration: histograms(
                registry,
                "apiserver_request_sli_duration_seconds",
                "How long requests took, without the time in queues of priority and fairness.",
                &of,
                &LATENCIES[2..23],
            ),
            sizes: histograms(registry, "apiserver_response_sizes", "Bytes of answers to reads.", &of, &SIZES),
            long_running: gauges(
                registry,
                "apiserver_longrunning_requests",
                "Requests whose answers are streams.",
                &of,
            ),
            terminations: counters(
                registry,
                "apiserver_request_terminations_total",
                "Requests that the server ended to protect itself: too many, or too slow.",
                &with(&["code"]),
            ),
            aborts: counters(registry, "apiserver_request_aborts_total", "Answers that were broken off.", &of[..6]),
            watches: WatchMetrics::new(registry),
            hasher: RandomState::default(),
            series: RwLock::default(),
        }))
    }

    fn series(&self, labels: &Labels<'_>, dry_run: &str, code: StatusCode) -> Arc<Series> {
        let key = self.0.hasher.hash_one((labels, dry_run, code));
        let known = self.0.series.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        known.unwrap_or_else(|| {
            let [verb, group, version, resource, subresource, scope] = *labels;
            let of = [verb, group, version, resource, subresource, scope, COMPONENT];
            let series = Arc::new(Series {
                total: self.0.total.with_label_values(&[&of[..], &[dry_run, code.as_str()]].concat()),
                duration: self.0.duration.with_label_values(&[&of[..], &[dry_run]].concat()),
                sli_duration: self.0.sli_duration.with_label_values(&of),
                sizes: self.0.sizes.with_label_values(&of),
                long_running: self.0.long_running.with_label_values(&of),
                aborts: self.0.aborts.with_label_values(&of[..6]),
            });
            self.0.series.write().unwrap_or_else(PoisonError::into_inner).insert(key, series.clone());
            series
        })
    }
}

/// Verbs as metrics name them; anything a client made up is `other`.
fn label_of_verb(info: &RequestInfo) -> &'static str {
    match &*info.verb {
        "get" => "GET",
        "list" => "LIST",
        "watch" => "WATCH",
        "create" | "post" => "POST",
        "update" | "put" => "PUT",
        "patch" => "PATCH",
        "delete" => "DELETE",
        "deletecollection" => "DELETECOLLECTION",
        "head" => "HEAD",
        "options" => "OPTIONS",
        _ => "other",
    }
}

/// Resources are labels only where the answer shows that there is such a resource: everybody can ask for names that are not, without end.
fn labels(info: &RequestInfo, code: StatusCode) -> Labels<'_> {
    let verb = label_of_verb(info);
    let exists = !code.is_client_error() || matches!(code.as_u16(), 409 | 410 | 415 | 422 | 429);
    if !info.is_resource_request || !exists || code.is_server_error() {
        return [verb, "", "", "", "", ""];
    }
    let scope = match (info.namespace.as_str(), info.name.as_str()) {
        (_, name) if !name.is_empty() => "resource",
        ("", _) => "cluster",
        _ => "namespace",
    };
    [verb, &info.api_group, &info.api_version, &info.resource, &info.subresource, scope]
}

/// Counts and times requests, to the end of their answers.
pub struct WithMetrics<H> {
    inner: H,
    metrics: RequestMetrics,
}

impl<H> WithMetrics<H> {
    /// Counts here.
    pub fn new(inner: H, metrics: RequestMetrics) -> Self {
        WithMetrics { inner, metrics }
    }
}

impl<H: Handler> Handler for WithMetrics<H> {
    fn handle(&self, mut request: Request) -> BoxFuture<'_, Response> {
        let Some(info) = request.info().cloned() else { return self.inner.handle(request) };
        let dry_run = info.query.all("dryRun").any(|value| value == "All");
        let delayed = Delayed::default();
        request.extensions_mut().insert(delayed.clone());
        if info.verb == "watch" {
            request.extensions_mut().insert(self.metrics.0.watches.of(&info));
        }
        Box::pin(async move {
            let began = Instant::now();
            let response = self.inner.handle(request).await;
            let (labels, dry_run) = (labels(&info, response.status()), if dry_run { "All" } else { "" });
            let [verb, group, version, resource, subresource, scope] = labels;
            let code = response.status();
            let series = self.metrics.series(&labels, dry_run, code);
            series.total.inc();
            if response.extensions().get::<Terminated>().is_some() {
                let of = [verb, group, version, resource, subresource, scope, COMPONENT, code.as_str()];
                self.metrics.0.terminations.with_label_values(&of).inc();
            }
            let is_long_running = info.is_long_running();
            if is_long_running {
                series.long_running.inc();
            }
            let is_read = matches!(verb, "GET" | "LIST");
            let sending = Sending { series, began, delayed, is_long_running, is_read, bytes: 0 };
            response.map(|body| sending.follow(body))
        })
    }
}

/// An answer that is being sent; what is known of it at the end is kept when this is dropped.
struct Sending {
    series: Arc<Series>,
    began: Instant,
    delayed: Delayed,
    is_long_running: bool,
    is_read: bool,
    bytes: u64,
}

impl Sending {
    fn follow(mut self, body: Body) -> Body {
        if body.is_whole() {
            self.bytes = http_body::Body::size_hint(&body).lower();
            return body;
        }
        Body::layer(Followed { body, sending: Some(self) })
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        if self.is_long_running {
            return self.series.long_running.dec();
        }
        let took = self.began.elapsed();
        self.series.duration.observe(took.as_secs_f64());
        self.series.sli_duration.observe(took.saturating_sub(self.delayed.get()).as_secs_f64());
        if self.is_read {
            self.series.sizes.observe(self.bytes as f64);
        }
    }
}

/// A body that is counted.
struct Followed {
    body: Body,
    sending: Option<Sending>,
}

impl http_body::Body for Followed {
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
                    sending.series.aborts.inc();
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
    use crate::filters::testing::{ok, request, seen};
    use crate::handler::FromFn;
    use crate::metrics::{Metrics, MetricsHandler};
    use crate::respond;

    #[tokio::test]
    async fn requests_are_counted() {
        let metrics = Metrics::default();
        for uri in ["/api/v1/pods", "/api/v1/pods", "/healthz"] {
            WithMetrics::new(ok(), metrics.requests.clone()).handle(request("GET", uri)).await;
        }
        let missing = FromFn(|_| respond::not_found());
        WithMetrics::new(missing, metrics.requests.clone()).handle(request("GET", "/api/v1/made-up")).await;
        let watch = WithMetrics::new(
            FromFn(|_| Response::new(Body::stream(http_body_util::Empty::new().map_err(|e| match e {})))),
            metrics.requests.clone(),
        );
        let watching = watch.handle(request("GET", "/api/v1/pods?watch=1")).await;
        let shown = |metrics: Metrics| async {
            seen(MetricsHandler { metrics, options: Default::default() }.handle(request("GET", "/metrics")).await)
                .await
                .1
        };
        let text = shown(metrics.clone()).await;
        let line = |resource: &str, code: &str| {
            format!("code=\"{code}\",component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"{resource}\"")
        };
        assert!(text.contains(&line("pods", "200")) && text.contains(&line("", "404")), "{text}");
        assert!(text.lines().any(|l| l.contains(&line("pods", "200")) && l.ends_with(" 2")), "{text}");
        assert!(!text.contains("made-up"));
        let value = |text: &str, begin: &str, label: &str| {
            let is_meant = |l: &&str| l.starts_with(begin) && l.contains(label) && l.contains("resource=\"pods\"");
            let line = text.lines().find(is_meant).unwrap_or_default();
            line.rsplit(' ').next().unwrap_or_default().to_owned()
        };
        assert_eq!(value(&text, "apiserver_response_sizes_sum", "LIST"), "4");
        assert_eq!(value(&text, "apiserver_request_sli_duration_seconds_count", "LIST"), "2");
        assert_eq!(value(&text, "apiserver_longrunning_requests{", "WATCH"), "1");
        let too_many = FromFn(|_| crate::filters::too_many(1));
        WithMetrics::new(too_many, metrics.requests.clone()).handle(request("GET", "/api/v1/pods")).await;
        let broken = FromFn(|_| {
            let failed = http_body_util::Empty::new().map_err(|e| match e {});
            let failed =
                failed.with_trailers(std::future::ready(Some(Err::<http::HeaderMap, BodyError>("gone".into()))));
            Response::new(Body::stream(failed))
        });
        let answer = WithMetrics::new(broken, metrics.requests.clone()).handle(request("GET", "/api/v1/pods")).await;
        assert!(answer.into_body().read(1).await.is_err());
        let text = shown(metrics.clone()).await;
        assert_eq!(value(&text, "apiserver_request_terminations_total", "code=\"429\""), "1");
        assert_eq!(value(&text, "apiserver_request_aborts_total", "LIST"), "1");
        drop(watching);
        assert_eq!(value(&shown(metrics).await, "apiserver_longrunning_requests{", "WATCH"), "0");
    }

    use http_body_util::BodyExt;
}
