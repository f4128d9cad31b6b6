//! Metrics of WebSocket connections to containers and ports, and of logs (upstream:
//! `util/proxy/metrics`, `LogREST`).

use http::StatusCode;
use prometheus::{IntCounter, IntCounterVec, Registry};

use super::register::counters;

/// The metrics of streams. Clones share them.
#[derive(Clone)]
pub struct StreamMetrics {
    translated: IntCounterVec,
    tunnelled: IntCounterVec,
    routed: IntCounterVec,
    logs: IntCounterVec,
    log_tls_failures: IntCounter,
}

impl StreamMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        StreamMetrics {
            translated: counters(
                registry,
                "apiserver_stream_translator_requests_total",
                "Number of exec and attach requests translated from WebSocket to SPDY, by status code.",
                &["code"],
            ),
            tunnelled: counters(
                registry,
                "apiserver_stream_tunnel_requests_total",
                "Number of port forwards tunnelled as SPDY through WebSockets, by status code of the kubelet.",
                &["code"],
            ),
            routed: counters(
                registry,
                "apiserver_websocket_streaming_requests_total",
                "Number of WebSocket streaming requests, by the server that translates them.",
                &["subresource", "proxy_type"],
            ),
            logs: counters(
                registry,
                "kube_apiserver_pod_logs_insecure_backend_total",
                "Number of pod log requests, by whether kubelet certificates are verified.",
                &["usage"],
            ),
            log_tls_failures: counters(
                registry,
                "kube_apiserver_pod_logs_backend_tls_failure_total",
                "Number of pod log requests that failed because of an invalid kubelet certificate.",
                &[],
            )
            .with_label_values::<&str>(&[]),
        }
    }

    /// Records a connection by the server that translates its WebSocket: this one or the kubelet.
    pub fn routed(&self, subresource: &str, here: bool) {
        let by = if here { "translated_at_apiserver" } else { "proxied_to_kubelet" };
        self.routed.with_label_values(&[subresource, by]).inc();
    }

    /// Records a log request; `insecure` skips the verification of the kubelet's certificate.
    pub fn log_requested(&self, insecure: bool) {
        self.logs.with_label_values(&[if insecure { "skip_tls_allowed" } else { "enforce_tls" }]).inc();
    }

    /// Records a log request that failed because the kubelet's certificate is invalid.
    pub fn log_unverified(&self) {
        self.log_tls_failures.inc();
    }

    /// Records the end of a command in a container.
    pub fn translated(&self, code: StatusCode) {
        self.translated.with_label_values(&[code.as_str()]).inc();
    }

    /// Records the kubelet's response to a port-forward request.
    pub fn tunnelled(&self, code: StatusCode) {
        self.tunnelled.with_label_values(&[code.as_str()]).inc();
    }
}
