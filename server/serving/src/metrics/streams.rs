//! How connections to containers and ports fare that come as WebSockets (upstream: `util/proxy/metrics`).

use http::StatusCode;
use prometheus::{IntCounterVec, Registry};

use super::counters;

/// Counts such connections. Clones share it.
#[derive(Clone)]
pub struct StreamMetrics {
    translated: IntCounterVec,
    tunnelled: IntCounterVec,
    routed: IntCounterVec,
}

impl StreamMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        StreamMetrics {
            translated: counters(
                registry,
                "apiserver_stream_translator_requests_total",
                "Commands in containers whose WebSockets were translated to SPDY here, by how that ended.",
                &["code"],
            ),
            tunnelled: counters(
                registry,
                "apiserver_stream_tunnel_requests_total",
                "Ports that were forwarded in SPDY through WebSockets, by what the kubelet answered.",
                &["code"],
            ),
            routed: counters(
                registry,
                "apiserver_websocket_streaming_requests_total",
                "Connections to containers and ports, by who would translate their WebSockets.",
                &["subresource", "proxy_type"],
            ),
        }
    }

    /// A connection has begun whose WebSocket would be translated here, or by the kubelet.
    pub fn routed(&self, subresource: &str, here: bool) {
        let by = if here { "translated_at_apiserver" } else { "proxied_to_kubelet" };
        self.routed.with_label_values(&[subresource, by]).inc();
    }

    /// A command in a container has ended.
    pub fn translated(&self, code: StatusCode) {
        self.translated.with_label_values(&[code.as_str()]).inc();
    }

    /// A kubelet has answered whether it forwards a port.
    pub fn tunnelled(&self, code: StatusCode) {
        self.tunnelled.with_label_values(&[code.as_str()]).inc();
    }
}
