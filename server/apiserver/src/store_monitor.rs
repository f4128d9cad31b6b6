//! Monitors the stores: health, number of objects, size.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use options::StorageOptions;
use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{IntCounterVec, IntGaugeVec, Opts, Registry};
use registry::Stores;
use serving::health::Health;
use storage::Store;

use crate::backends::Backends;
use crate::error::ProbeError;

/// Starts the monitor. It runs until the runtime shuts down. Requires a tokio runtime.
pub async fn start(
    backends: &Arc<Backends>,
    resources: &Arc<Stores>,
    options: &StorageOptions,
    health: &Health,
    registry: &Registry,
) {
    let check = async |store: &Arc<dyn Store>, name, timeout| {
        let probe = Probe { store: store.clone(), key: format!("{}/health", options.prefix), timeout };
        probe.start(health, name).await;
    };
    for (i, opened) in backends.all().enumerate() {
        let (health_name, ready_name) = match i.checked_sub(1) {
            None => ("etcd".to_owned(), "etcd-readiness".to_owned()),
            Some(i) => (format!("etcd-override-{i}"), format!("etcd-override-readiness-{i}")),
        };
        check(&opened.backend.store, health_name, options.health_timeout).await;
        check(&opened.backend.store, ready_name, options.ready_timeout).await;
    }
    let _ = registry.register(Box::new(Decoded::new(resources.clone()))); // fails only for a registered name
    if let Some(interval) = options.count_interval {
        tokio::spawn(count(resources.clone(), interval, Counts::new(registry)));
    }
    if let Some(interval) = options.size_interval {
        let sizes = gauges(
            registry,
            "apiserver_storage_size_bytes",
            "Size of the storage database file physically allocated in bytes.",
            &["storage_cluster_id"],
        );
        tokio::spawn(measure(backends.clone(), interval, sizes));
    }
}

/// Reads a key periodically (`etcd3ProberMonitor`).
struct Probe {
    store: Arc<dyn Store>,
    /// The key need not exist; the read only has to succeed.
    key: String,
    timeout: Duration,
}

impl Probe {
    /// Registers a health check that reports the last probe.
    async fn start(self, health: &Health, name: String) {
        let last = Arc::new(Mutex::new(self.run().await));
        let seen = last.clone();
        // The name is leaked: a check is never removed, and there are only as many as stores.
        health.set(name.leak(), move || Ok(seen.lock().unwrap_or_else(PoisonError::into_inner).clone()?));
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(self.timeout / 2).await;
                let outcome = self.run().await;
                *last.lock().unwrap_or_else(PoisonError::into_inner) = outcome;
            }
        });
    }

    async fn run(&self) -> Result<(), ProbeError> {
        match tokio::time::timeout(self.timeout, self.store.get(self.key.as_bytes(), None)).await {
            Ok(Ok(_)) => self.store.check_writable().map_err(ProbeError::Write),
            Ok(Err(error)) => Err(ProbeError::Read(error)),
            Err(_) => Err(ProbeError::Timeout),
        }
    }
}

/// Number of decoded objects by resource, read from the stores.
struct Decoded {
    resources: Arc<Stores>,
    counter: IntCounterVec,
}

impl Decoded {
    fn new(resources: Arc<Stores>) -> Self {
        let help = "Number of decoded stored objects. Reads in the stored version need no decoding.";
        let options = Opts::new("apiserver_storage_decoded_objects_total", help);
        let counter = IntCounterVec::new(options, &["group", "resource"]).expect("a well-formed metric");
        Decoded { resources, counter }
    }
}

impl Collector for Decoded {
    fn desc(&self) -> Vec<&Desc> {
        self.counter.desc()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        for ((group, plural), resource) in self.resources.iter() {
            let counter = self.counter.with_label_values(&[*group, *plural]);
            counter.inc_by(resource.decoded().saturating_sub(counter.get()));
        }
        self.counter.collect()
    }
}

/// Gauges of stored objects.
struct Counts {
    objects: IntGaugeVec,
    /// The name before 1.34.
    deprecated: IntGaugeVec,
    bytes: IntGaugeVec,
}

impl Counts {
    fn new(registry: &Registry) -> Self {
        let help = "Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.";
        let deprecated = format!("[DEPRECATED, consider using apiserver_resource_objects instead] {help}");
        Counts {
            objects: gauges(registry, "apiserver_resource_objects", help, &["group", "resource"]),
            deprecated: gauges(registry, "apiserver_storage_objects", &deprecated, &["resource"]),
            bytes: gauges(
                registry,
                "apiserver_resource_size_estimate_bytes",
                "Size of the stored objects at the last check, in bytes.",
                &["group", "resource"],
            ),
        }
    }

    fn set(&self, group: &str, resource: &str, (count, bytes): (usize, usize)) {
        let [count, bytes] = [count, bytes].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
        self.objects.with_label_values(&[group, resource]).set(count);
        self.bytes.with_label_values(&[group, resource]).set(bytes);
        let name = if group.is_empty() { resource.to_owned() } else { format!("{resource}.{group}") };
        self.deprecated.with_label_values(&[&name]).set(count);
    }
}

async fn count(resources: Arc<Stores>, interval: Duration, counts: Counts) {
    loop {
        for ((group, plural), resource) in resources.iter() {
            counts.set(group, plural, resource.cache.size());
        }
        tokio::time::sleep(interval).await;
    }
}

async fn measure(backends: Arc<Backends>, interval: Duration, sizes: IntGaugeVec) {
    loop {
        for (i, opened) in backends.all().enumerate() {
            if let Some(size) = opened.size().await {
                let cluster = format!("etcd-{i}");
                sizes.with_label_values(&[&cluster]).set(i64::try_from(size).unwrap_or(i64::MAX));
            }
        }
        tokio::time::sleep(interval).await;
    }
}

/// Cannot fail: names and labels are literals of this file.
fn gauges(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
    let gauges = IntGaugeVec::new(Opts::new(name, help), labels).expect("a well-formed metric");
    let _ = registry.register(Box::new(gauges.clone())); // fails only for a registered name
    gauges
}
