//! The exposition of metrics: as text or, if the client prefers it, protobuf, with the stability of
//! each metric.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use options::MetricsOptions;
use prometheus::proto::MetricFamily;
use request::{BoxFuture, Handler, Request, Response, respond};

use super::reset::Reset;
use super::server::Metrics;
use super::stability::mark;
use super::{allowed, protobuf, state, text};

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8; escaping=underscores");
const PROTOBUF: HeaderValue = HeaderValue::from_static(
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited; escaping=underscores",
);

/// Encodes the metrics in the format that the request prefers.
pub fn encode(request: &Request, families: &[MetricFamily]) -> Response {
    let accept = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
    if prefers_protobuf(accept.unwrap_or_default()) {
        return compressed(request, PROTOBUF, protobuf::encode(families));
    }
    compressed(request, TEXT, text::encode(families).into_bytes())
}

/// Compresses metrics of any length if the client accepts gzip (`promhttp.HandlerFor`).
fn compressed(request: &Request, content_type: HeaderValue, text: Vec<u8>) -> Response {
    let accepted = request.headers().get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_accepted = accepted.split(',').any(|part| part.split(';').next().unwrap_or_default().trim() == "gzip");
    let pack = || {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(&text).and_then(|()| packer.finish())
    };
    let Some(Ok(packed)) = is_accepted.then(pack) else { return plain(content_type, text) };
    let mut response = respond::bytes(200, content_type, packed);
    response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response
}

/// An uncompressed response. An empty one has no media type, as upstream.
fn plain(content_type: HeaderValue, text: Vec<u8>) -> Response {
    let is_empty = text.is_empty();
    let mut response = respond::bytes(200, content_type, text);
    if is_empty {
        response.headers_mut().remove(CONTENT_TYPE);
    }
    response
}

/// Whether the client prefers the protobuf format of Prometheus (`expfmt.Negotiate`).
fn prefers_protobuf(accept: &str) -> bool {
    let quality = |clause: &str| {
        let weight = clause.split(';').find_map(|part| part.trim().strip_prefix("q="));
        weight.map_or(1.0, |q| q.trim().parse::<f64>().unwrap_or(0.0))
    };
    let best = |wanted: &dyn Fn(&str) -> bool| {
        accept.split(',').filter(|clause| wanted(clause)).map(quality).fold(0.0, f64::max)
    };
    let is_message = |clause: &str| {
        let parts: Vec<&str> = clause.split(';').map(str::trim).collect();
        ["application/vnd.google.protobuf", "proto=io.prometheus.client.MetricFamily", "encoding=delimited"]
            .iter()
            .all(|part| parts.contains(part))
    };
    let is_text = |clause: &str| {
        let media = clause.split(';').next().unwrap_or_default().trim();
        matches!(media, "text/plain" | "text/*" | "application/openmetrics-text")
    };
    let message = best(&is_message);
    message > 0.0 && message >= best(&is_text)
}

/// Handles `/metrics`.
pub struct MetricsHandler {
    metrics: Metrics,
    options: MetricsOptions,
    /// `None` if metrics cannot be reset.
    reset: Option<Reset>,
}

impl MetricsHandler {
    /// Creates the handler. As upstream, DELETE resets the metrics if profiling is enabled.
    pub fn new(metrics: Metrics, options: MetricsOptions, profiling: bool) -> Self {
        MetricsHandler { metrics, options, reset: profiling.then(Reset::default) }
    }
}

impl Handler for MetricsHandler {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        let mut families = self.metrics.registry().gather();
        if let Some(done) = self.reset.as_ref().and_then(|reset| reset.handle(&request, &mut families)) {
            return Box::pin(std::future::ready(done));
        }
        families.extend(state::about(&families, &self.options.disabled));
        families.retain(|family| !self.options.disabled.iter().any(|name| name == family.name()));
        families.sort_by(|one, other| one.name().cmp(other.name()));
        allowed::constrain(&mut families, &self.options.allowed);
        mark(&mut families);
        Box::pin(std::future::ready(encode(&request, &families)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use request::testing::{request, seen};

    #[test]
    fn negotiates_format() {
        let message = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
        for (accept, expect) in [
            ("", false),
            ("*/*", false),
            ("text/plain;version=0.0.4", false),
            (message, true),
            (&format!("{message};q=0.6,application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.3"), true),
            (&format!("text/plain;q=0.9,{message};q=0.6"), false),
        ] {
            assert_eq!(prefers_protobuf(accept), expect, "{accept}");
        }
    }

    #[tokio::test]
    async fn delete_resets_metrics_if_profiling_is_enabled() {
        for (profiling, expect) in [(true, "metrics reset\n"), (false, "# HELP")] {
            let handler = MetricsHandler::new(Metrics::default(), MetricsOptions::default(), profiling);
            let (code, text) = seen(handler.handle(request("DELETE", "/metrics")).await).await;
            assert!(code == 200 && text.starts_with(expect), "{text}");
        }
    }

    #[tokio::test]
    async fn compresses_metrics_if_accepted() {
        let handler = MetricsHandler::new(Metrics::default(), MetricsOptions::default(), true);
        for (accepted, expect) in [("gzip;q=1.0, br", true), ("identity", false)] {
            let mut request = request("GET", "/metrics");
            request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static(accepted));
            let response = handler.handle(request).await;
            assert_eq!(response.headers().contains_key(CONTENT_ENCODING), expect, "{accepted}");
        }
    }

    #[tokio::test]
    async fn help_has_stability_level() {
        let handler = MetricsHandler::new(Metrics::default(), MetricsOptions::default(), true);
        let (_, text) = seen(handler.handle(request("GET", "/metrics")).await).await;
        for line in [
            "# HELP authorization_attempts_total [ALPHA] ",
            "# HELP kubernetes_build_info [BETA] ",
            "registered_metrics_total{deprecated_version=\"\",stability_level=\"ALPHA\"} ",
            "kubernetes_build_info{build_date=",
            "\nhidden_metrics_total 0\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
        assert!(!text.contains("# HELP process_cpu_seconds_total ["), "metrics of the process are not marked");
    }
}
