//! The metrics of the server, with the names of etcd's where the same is measured.

use http::Response;
use prometheus::{IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry, TextEncoder};
use storage::{EmbeddedStore, Store};
use tonic::{Code, body::Body};

use crate::{
    Error,
    version::{CLUSTER_VERSION, VERSION},
};

/// The metrics.
pub(crate) struct Metrics {
    registry: Registry,
    handled: IntCounterVec,
    health_success: IntCounter,
    health_failures: IntCounter,
    size: IntGauge,
    size_in_use: IntGauge,
    quota: IntGauge,
    revision: IntGauge,
    compacted: IntGauge,
    leases: IntGauge,
}

impl Metrics {
    /// Registers the metrics of a member.
    ///
    /// # Errors
    /// None in fact: the names differ.
    pub(crate) fn new(member: u64) -> Result<Self, Error> {
        let registry = Registry::new();
        let gauge = |name: &str, help: &str| {
            let gauge = IntGauge::new(name, help)?;
            registry.register(Box::new(gauge.clone())).map(|()| gauge)
        };
        let counter = |name: &str, help: &str| {
            let counter = IntCounter::new(name, help)?;
            registry.register(Box::new(counter.clone())).map(|()| counter)
        };
        for (name, label, value, help) in [
            ("etcd_server_id", "server_id", format!("{member:x}"), "The number of the member."),
            ("etcd_server_version", "server_version", VERSION.to_owned(), "The version of etcd that is served."),
            ("etcd_cluster_version", "cluster_version", CLUSTER_VERSION.to_owned(), "The version of the cluster."),
        ] {
            let constant = IntGaugeVec::new(Opts::new(name, help), &[label])?;
            constant.with_label_values(&[value.as_str()]).set(1);
            registry.register(Box::new(constant))?;
        }
        gauge("etcd_server_has_leader", "Whether a leader exists: the only member is one.")?.set(1);
        gauge("etcd_server_is_leader", "Whether this member is the leader.")?.set(1);
        let handled = IntCounterVec::new(
            Opts::new("grpc_server_handled_total", "Number of calls that were answered, or whose stream began."),
            &["grpc_code", "grpc_method", "grpc_service"],
        )?;
        registry.register(Box::new(handled.clone()))?;
        Ok(Self {
            handled,
            health_success: counter("etcd_server_health_success", "Number of successful health checks.")?,
            health_failures: counter("etcd_server_health_failures", "Number of failed health checks.")?,
            size: gauge("etcd_mvcc_db_total_size_in_bytes", "Size of the database file.")?,
            size_in_use: gauge("etcd_mvcc_db_total_size_in_use_in_bytes", "Size of the data in the database file.")?,
            quota: gauge("etcd_server_quota_backend_bytes", "Maximum size of the database; -1 is no limit.")?,
            revision: gauge("etcd_debugging_mvcc_current_revision", "Current revision of the store.")?,
            compacted: gauge("etcd_debugging_mvcc_compact_revision", "Last compacted revision.")?,
            leases: gauge("etcd_debugging_lease_active_total", "Number of leases.")?,
            registry,
        })
    }

    /// Counts a call. The code of a stream is in its trailer, which is not seen here.
    pub(crate) fn handled(&self, service: &str, method: &str, response: &Response<Body>) {
        let status = response.headers().get("grpc-status").and_then(|code| code.to_str().ok());
        let code = status.and_then(|code| code.parse().ok()).map_or(Code::Ok, Code::from_i32);
        // An unknown method would make a label from what a client sent.
        if code != Code::Unimplemented {
            self.handled.with_label_values(&[&format!("{code:?}"), method, service]).inc();
        }
    }

    pub(crate) fn health(&self, is_healthy: bool) {
        if is_healthy { self.health_success.inc() } else { self.health_failures.inc() }
    }

    /// Measures the store, and returns all metrics as text.
    pub(crate) async fn text(&self, store: &EmbeddedStore, quota: Option<u64>) -> String {
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        if let Ok(sizes) = store.sizes() {
            self.size.set(number(sizes.total));
            self.size_in_use.set(number(sizes.in_use));
        }
        if let (Ok(revision), Ok(compacted)) = (store.current_revision().await, store.compacted_revision()) {
            self.revision.set(number(revision));
            self.compacted.set(number(compacted));
        }
        self.quota.set(quota.map_or(-1, number));
        self.leases.set(number(store.leases().len() as u64));
        TextEncoder::new().encode_to_string(&self.registry.gather()).unwrap_or_default()
    }
}
