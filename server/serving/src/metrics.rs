//! What operators measure the server by (`/metrics`), and the filter that counts requests.

use std::time::Instant;

use http::{HeaderValue, StatusCode};
use prometheus::{
    Encoder, HistogramOpts, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry, TextEncoder,
};

use crate::handler::{BoxFuture, Handler, Request, RequestExt, Response};
use crate::request_info::RequestInfo;
use crate::respond;

const LATENCY_BUCKETS: [f64; 24] = [
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0,
    45.0, 60.0, 120.0,
];
const CONTENT_TYPE: HeaderValue =
    HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8; escaping=underscores");

/// The metrics of a server. Clones share them. Others add theirs to the registry.
#[derive(Clone)]
pub struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    latency: HistogramVec,
    in_flight: IntGaugeVec,
}

impl Default for Metrics {
    fn default() -> Self {
        let registry = Registry::new();
        let request = ["verb", "group", "version", "resource", "subresource", "scope", "component"];
        let requests = counters(
            "apiserver_request_total",
            "Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.",
            &[&request[..], &["dry_run", "code"]].concat(),
        );
        let latency =
            histograms("apiserver_request_duration_seconds", "Response latency distribution in seconds.", &request);
        let in_flight = gauges(
            "apiserver_current_inflight_requests",
            "Requests served at this moment, by kind.",
            &["request_kind"],
        );
        for collector in [
            Box::new(requests.clone()) as Box<dyn prometheus::core::Collector>,
            Box::new(latency.clone()),
            Box::new(in_flight.clone()),
        ] {
            // Only a name registered twice is refused, and these are three.
            let _ = registry.register(collector);
        }
        Metrics { registry, requests, latency, in_flight }
    }
}

/// Names and labels of metrics are literals of this file; that they are well-formed is what the tests show.
fn counters(name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
    IntCounterVec::new(Opts::new(name, help), labels).expect("a well-formed metric")
}

fn histograms(name: &str, help: &str, labels: &[&str]) -> HistogramVec {
    HistogramVec::new(HistogramOpts::new(name, help).buckets(LATENCY_BUCKETS.into()), labels)
        .expect("a well-formed metric")
}

fn gauges(name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
    IntGaugeVec::new(Opts::new(name, help), labels).expect("a well-formed metric")
}

impl Metrics {
    /// Where other parts of the server register theirs.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The gauge of requests of a kind, `readOnly` or `mutating`.
    pub(crate) fn in_flight(&self, kind: &str) -> IntGauge {
        self.in_flight.with_label_values(&[kind])
    }

    fn observe(&self, info: &RequestInfo, dry_run: bool, code: StatusCode, seconds: f64) {
        let verb = label_of_verb(info);
        let component = "apiserver";
        let [group, version, resource, subresource, scope] = labels_of_resource(info, code);
        self.requests
            .with_label_values(&[
                verb,
                group,
                version,
                resource,
                subresource,
                scope,
                component,
                if dry_run { "All" } else { "" },
                code.as_str(),
            ])
            .inc();
        if !info.is_long_running() {
            self.latency
                .with_label_values(&[verb, group, version, resource, subresource, scope, component])
                .observe(seconds);
        }
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
fn labels_of_resource(info: &RequestInfo, code: StatusCode) -> [&str; 5] {
    let exists = !code.is_client_error() || matches!(code.as_u16(), 409 | 410 | 415 | 422 | 429);
    if !info.is_resource_request || !exists || code.is_server_error() {
        return [""; 5];
    }
    let scope = match (info.namespace.as_str(), info.name.as_str()) {
        (_, name) if !name.is_empty() => "resource",
        ("", _) => "cluster",
        _ => "namespace",
    };
    [&info.api_group, &info.api_version, &info.resource, &info.subresource, scope]
}

/// Counts and times requests.
pub struct WithMetrics<H> {
    inner: H,
    metrics: Metrics,
}

impl<H> WithMetrics<H> {
    /// Counts here.
    pub fn new(inner: H, metrics: Metrics) -> Self {
        WithMetrics { inner, metrics }
    }
}

impl<H: Handler> Handler for WithMetrics<H> {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        let Some(info) = request.info().cloned() else { return self.inner.handle(request) };
        let dry_run = request.uri().query().is_some_and(|q| q.contains("dryRun=All"));
        Box::pin(async move {
            let begin = Instant::now();
            let response = self.inner.handle(request).await;
            self.metrics.observe(&info, dry_run, response.status(), begin.elapsed().as_secs_f64());
            response
        })
    }
}

/// Answers `/metrics`.
pub struct MetricsHandler(pub Metrics);

impl Handler for MetricsHandler {
    fn handle(&self, _: Request) -> BoxFuture<'_, Response> {
        let mut text = Vec::new();
        let response = match TextEncoder::new().encode(&self.0.registry.gather(), &mut text) {
            Ok(()) => respond::bytes(200, CONTENT_TYPE, text),
            Err(error) => respond::text_error(500, &error.to_string()),
        };
        Box::pin(std::future::ready(response))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::testing::{ok, request, seen};
    use crate::handler::FromFn;

    #[tokio::test]
    async fn requests_are_counted() {
        let metrics = Metrics::default();
        for uri in ["/api/v1/pods", "/api/v1/pods", "/healthz"] {
            WithMetrics::new(ok(), metrics.clone()).handle(request("GET", uri)).await;
        }
        let missing = FromFn(|_| respond::not_found());
        WithMetrics::new(missing, metrics.clone()).handle(request("GET", "/api/v1/made-up")).await;
        let (code, text) = seen(MetricsHandler(metrics).handle(request("GET", "/metrics")).await).await;
        assert_eq!(code, 200);
        let line = |resource: &str, code: &str| {
            format!("code=\"{code}\",component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"{resource}\"")
        };
        assert!(text.contains(&line("pods", "200")) && text.contains(&line("", "404")), "{text}");
        assert!(text.lines().any(|l| l.contains(&line("pods", "200")) && l.ends_with(" 2")), "{text}");
        assert!(!text.contains("made-up"));
    }
}
