//! Metrics of requests to peers (upstream: `peerproxy/metrics`).

use prometheus::{IntCounterVec, Opts, Registry};

/// Group, version and plural; all empty for discovery.
pub(super) type GroupVersionResource<'a> = [&'a str; 3];

/// Counters of requests to peers.
pub(super) struct PeerMetrics {
    rerouted: IntCounterVec,
    failed: IntCounterVec,
    unknown: IntCounterVec,
}

impl PeerMetrics {
    /// Creates the counters and registers them.
    pub fn register(registry: &Registry) -> Self {
        let counter = |name: &str, help: &str, labels: &[&str]| {
            let counter = IntCounterVec::new(Opts::new(format!("apiserver_{name}"), help), labels);
            let counter = counter.expect("a well-formed metric");
            // Fails only for a name that is already registered.
            let _ = registry.register(Box::new(counter.clone()));
            counter
        };
        let rerouted = "Number of requests forwarded to another API server of the cluster, by status code and resource; \
                         the resource is empty for discovery.";
        let failed = "Number of requests that could not be forwarded to another API server, by reason and resource.";
        let unknown = "Number of failed discovery requests to other API servers, by reason.";
        PeerMetrics {
            rerouted: counter("rerouted_request_total", rerouted, &["code", "group", "version", "resource"]),
            failed: counter("peer_proxy_errors_total", failed, &["type", "group", "version", "resource"]),
            unknown: counter("peer_discovery_sync_errors_total", unknown, &["type"]),
        }
    }

    /// Counts the response of a peer.
    pub fn rerouted(&self, code: u16, [group, version, resource]: GroupVersionResource<'_>) {
        self.rerouted.with_label_values(&[&*code.to_string(), group, version, resource]).inc();
    }

    /// Counts a request without a known address of a peer.
    pub fn unresolved(&self, [group, version, resource]: GroupVersionResource<'_>) {
        self.failed.with_label_values(&["endpoint_resolution", group, version, resource]).inc();
    }

    /// Counts failed discovery of a peer: `hostport_resolution` or `fetch_discovery`.
    pub fn unknown(&self, reason: &str) {
        self.unknown.with_label_values(&[reason]).inc();
    }
}
