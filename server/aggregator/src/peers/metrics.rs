//! What is passed on to other servers of the cluster (upstream: `peerproxy/metrics`).

use prometheus::{IntCounterVec, Opts, Registry};

/// Group, version and plural; all empty for discovery.
pub(super) type Asked<'a> = [&'a str; 3];

/// The counts.
pub(super) struct PeerMetrics {
    passed_on: IntCounterVec,
    failed: IntCounterVec,
    unknown: IntCounterVec,
}

impl PeerMetrics {
    /// Makes the counts, and adds them to a registry.
    pub fn register(registry: &Registry) -> Self {
        let counter = |name: &str, help: &str, labels: &[&str]| {
            let counter = IntCounterVec::new(Opts::new(format!("apiserver_{name}"), help), labels);
            let counter = counter.expect("a well-formed metric");
            // Only a name that is registered twice is refused.
            let _ = registry.register(Box::new(counter.clone()));
            counter
        };
        let passed_on = "Requests that another API server of the cluster was asked to answer, by its answer and what they were for; \
                         for discovery where that is empty.";
        let failed =
            "Requests that could not be passed on to another API server, by the reason and what they were for.";
        let unknown = "How often it could not be found out what another API server serves, by the reason.";
        PeerMetrics {
            passed_on: counter("rerouted_request_total", passed_on, &["code", "group", "version", "resource"]),
            failed: counter("peer_proxy_errors_total", failed, &["type", "group", "version", "resource"]),
            unknown: counter("peer_discovery_sync_errors_total", unknown, &["type"]),
        }
    }

    /// A server answered.
    pub fn passed_on(&self, code: u16, [group, version, resource]: Asked<'_>) {
        self.passed_on.with_label_values(&[&*code.to_string(), group, version, resource]).inc();
    }

    /// No server that may answer says where it is.
    pub fn unresolved(&self, [group, version, resource]: Asked<'_>) {
        self.failed.with_label_values(&["endpoint_resolution", group, version, resource]).inc();
    }

    /// A server does not say what it serves: `hostport_resolution` or `fetch_discovery`.
    pub fn unknown(&self, reason: &str) {
        self.unknown.with_label_values(&[reason]).inc();
    }
}
