//! Metrics of the allocation of cluster IPs and node ports (upstream: `ipallocator`,
//! `portallocator`).

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use options::Cidr;
use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{DEFAULT_BUCKETS, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Registry};
use telemetry::metrics::shared::{counters, gauges, histograms, show};

/// Whether the service requests a specific address or port.
#[derive(Clone, Copy)]
pub enum AllocationScope {
    Static,
    Dynamic,
}

impl AllocationScope {
    fn name(self) -> &'static str {
        match self {
            AllocationScope::Static => "static",
            AllocationScope::Dynamic => "dynamic",
        }
    }
}

/// Metrics of cluster IP allocation.
pub struct AddressMetrics {
    given: IntCounterVec,
    refused: IntCounterVec,
    seconds: HistogramVec,
}

impl AddressMetrics {
    /// Creates and registers the metrics.
    pub fn register(registry: &Registry) -> Self {
        let metrics = AddressMetrics {
            given: counters(
                &name("allocation_total"),
                "Number of addresses allocated to services.",
                &["cidr", "scope"],
            ),
            refused: counters(
                &name("allocation_errors_total"),
                "Number of failed address allocations for services.",
                &["cidr", "scope"],
            ),
            seconds: histograms(
                &name("allocation_duration_seconds"),
                "Duration of address allocations for services, in seconds.",
                &["cidr"],
                DEFAULT_BUCKETS,
            ),
        };
        show(registry, &metrics.given);
        show(registry, &metrics.refused);
        show(registry, &metrics.seconds);
        metrics
    }

    /// Records an allocation from a range.
    pub fn given(&self, range: &Cidr, scope: AllocationScope, began: Instant) {
        let range = range.to_string();
        self.given.with_label_values(&[range.as_str(), scope.name()]).inc();
        self.seconds.with_label_values(&[&range]).observe(began.elapsed().as_secs_f64());
    }

    /// Records a failed allocation from a range.
    pub fn refused(&self, range: &Cidr, scope: AllocationScope) {
        self.refused.with_label_values(&[range.to_string().as_str(), scope.name()]).inc();
    }
}

fn name(name: &str) -> String {
    format!("kube_apiserver_clusterip_allocator_{name}")
}

/// Returns ranges, each with the number of allocated addresses and its size.
type Count = Box<dyn Fn() -> Vec<(Cidr, u64, u64)> + Send + Sync>;

/// Address usage, computed at each scrape.
pub struct Usage {
    count: Count,
    allocated: IntGaugeVec,
    available: IntGaugeVec,
    /// Serializes scrapes.
    scrape: Mutex<()>,
}

impl Usage {
    /// Registers the gauges of `count`.
    pub fn register(registry: &Registry, count: Count) {
        let usage = Usage {
            count,
            allocated: gauges(&name("allocated_ips"), "Number of addresses in use by services.", &["cidr"]),
            available: gauges(&name("available_ips"), "Number of addresses available to services.", &["cidr"]),
            scrape: Mutex::default(),
        };
        let _ = registry.register(Box::new(usage)); // fails only for duplicate names
    }
}

impl Collector for Usage {
    fn desc(&self) -> Vec<&Desc> {
        [self.allocated.desc(), self.available.desc()].concat()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let _one = self.scrape.lock().unwrap_or_else(PoisonError::into_inner);
        self.allocated.reset();
        self.available.reset();
        for (range, allocated, size) in (self.count)() {
            let (range, free) = (range.to_string(), size.saturating_sub(allocated));
            self.allocated.with_label_values(&[&range]).set(i64::try_from(allocated).unwrap_or(i64::MAX));
            self.available.with_label_values(&[&range]).set(i64::try_from(free).unwrap_or(i64::MAX));
        }
        [self.allocated.collect(), self.available.collect()].concat()
    }
}

/// Metrics of node port allocation.
pub struct PortMetrics {
    given: IntCounterVec,
    refused: IntCounterVec,
    allocated: IntGauge,
    available: IntGauge,
}

impl Default for PortMetrics {
    fn default() -> Self {
        let name = |name: &str| format!("kube_apiserver_nodeport_allocator_{name}");
        let gauge = |name: &str, help: &str| IntGauge::new(name, help).expect("a well-formed metric");
        PortMetrics {
            given: counters(&name("allocation_total"), "Number of node ports allocated to services.", &["scope"]),
            refused: counters(
                &name("allocation_errors_total"),
                "Number of failed node port allocations for services.",
                &["scope"],
            ),
            allocated: gauge(&name("allocated_ports"), "Number of node ports in use by services."),
            available: gauge(&name("available_ports"), "Number of node ports available to services."),
        }
    }
}

impl PortMetrics {
    /// Registers the metrics.
    pub fn register(&self, registry: &Registry) {
        show(registry, &self.given);
        show(registry, &self.refused);
        show(registry, &self.allocated);
        show(registry, &self.available);
    }

    /// Records an allocation or its failure.
    pub fn observe_allocation<T, E>(&self, scope: AllocationScope, outcome: &Result<T, E>) {
        let counter = if outcome.is_ok() { &self.given } else { &self.refused };
        counter.with_label_values(&[scope.name()]).inc();
    }

    /// Sets the number of allocated and of available ports.
    pub fn used(&self, allocated: usize, size: usize) {
        self.allocated.set(i64::try_from(allocated).unwrap_or(i64::MAX));
        self.available.set(i64::try_from(size.saturating_sub(allocated)).unwrap_or(i64::MAX));
    }
}
