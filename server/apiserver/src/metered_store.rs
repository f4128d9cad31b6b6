//! A store that counts and times its requests, with the metric names of upstream's etcd client
//! (upstream: `storage/etcd3/metrics`).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use machinery::catalog::Catalog;
use prometheus::core::Collector;
use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, Opts, Registry};
use storage::{
    CountResponse, Error, GetResponse, KeyRange, ListOptions, ListResponse, Op, Result, Revision, Store, Txn,
    TxnOutcome, Watch,
};

const SECONDS: [f64; 23] = [
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0,
    45.0, 60.0,
];
const LABELS: [&str; 3] = ["operation", "group", "resource"];

/// Metrics shared by all stores of a server.
#[derive(Clone)]
pub struct StoreMetrics {
    seconds: HistogramVec,
    requests: IntCounterVec,
    errors: IntCounterVec,
    lists: IntCounterVec,
    listed: IntCounterVec,
    /// Group and plural by key prefix, for resources with a prefix other than `group/plural`.
    resources: Arc<HashMap<&'static str, (&'static str, &'static str)>>,
}

impl StoreMetrics {
    /// Creates the metrics and registers them.
    pub fn new(catalog: &'static Catalog, registry: &Registry) -> Self {
        let counters_of = |name: &str, help: &str, labels: &[&str]| {
            let counters = IntCounterVec::new(Opts::new(name, help), labels).expect("a well-formed metric");
            registered(registry, counters)
        };
        let counters = |name: &str, help: &str| counters_of(name, help, &LABELS);
        let seconds = HistogramOpts::new("etcd_request_duration_seconds", "Latency of store requests, in seconds.");
        let seconds = HistogramVec::new(seconds.buckets(SECONDS.into()), &LABELS).expect("a well-formed metric");
        let resources = catalog.kinds.iter().filter_map(|kind| {
            let resource = kind.resource.filter(|resource| !resource.key_prefix.is_empty())?;
            Some((resource.key_prefix, (resource.storage.0, resource.plural)))
        });
        StoreMetrics {
            seconds: registered(registry, seconds),
            requests: counters("etcd_requests_total", "Number of store requests."),
            errors: counters("etcd_request_errors_total", "Number of failed store requests."),
            lists: counters_of(
                "apiserver_storage_list_total",
                "Number of list requests served from the store.",
                &LABELS[1..],
            ),
            listed: counters_of(
                "apiserver_storage_list_fetched_objects_total",
                "Number of objects read from the store for list requests.",
                &LABELS[1..],
            ),
            resources: Arc::new(resources.collect()),
        }
    }

    fn observe(&self, operation: &str, (group, resource): (&str, &str), began: Instant, failed: bool) {
        let labels = [operation, group, resource];
        self.seconds.with_label_values(&labels).observe(began.elapsed().as_secs_f64());
        self.requests.with_label_values(&labels).inc();
        if failed {
            self.errors.with_label_values(&labels).inc();
        }
    }

    /// Returns the group and plural of a key without the common prefix. Their number is bounded by
    /// the stored resources.
    fn resource<'k>(&self, rest: &'k str) -> (&'k str, &'k str) {
        let mut slashes = rest.match_indices('/').map(|(at, _)| at);
        let (first, second) = (slashes.next().unwrap_or(rest.len()), slashes.next().unwrap_or(rest.len()));
        let known = |end: usize| self.resources.get(&rest[..end]).copied();
        known(first)
            .or_else(|| known(second))
            .unwrap_or_else(|| rest[..second].split_once('/').unwrap_or(("", &rest[..first])))
    }
}

/// Registers a collector. Fails only for a name that is already registered.
fn registered<C: Collector + Clone + 'static>(registry: &Registry, collector: C) -> C {
    let _ = registry.register(Box::new(collector.clone()));
    collector
}

/// Wraps a store with metrics; see the module documentation.
pub struct MeteredStore {
    inner: Arc<dyn Store>,
    metrics: StoreMetrics,
    /// The prefix of all keys, with a trailing slash.
    prefix: String,
}

impl MeteredStore {
    pub fn new(inner: Arc<dyn Store>, metrics: StoreMetrics, prefix: &str) -> Self {
        MeteredStore { inner, metrics, prefix: format!("{prefix}/") }
    }

    fn done<T>(&self, operation: &str, key: &[u8], began: Instant, outcome: Result<T>) -> Result<T> {
        self.metrics.observe(operation, self.resource(key), began, outcome.is_err());
        outcome
    }

    fn resource<'k>(&self, key: &'k [u8]) -> (&'k str, &'k str) {
        let rest = std::str::from_utf8(key).ok().and_then(|key| key.strip_prefix(self.prefix.as_str()));
        self.metrics.resource(rest.unwrap_or_default())
    }
}

#[async_trait]
impl Store for MeteredStore {
    async fn get(&self, key: &[u8], revision: Option<Revision>) -> Result<GetResponse> {
        let began = Instant::now();
        self.done("get", key, began, self.inner.get(key, revision).await)
    }

    async fn list(&self, range: KeyRange, options: ListOptions) -> Result<ListResponse> {
        let (began, start) = (Instant::now(), range.start().clone());
        let listed = self.done("list", &start, began, self.inner.list(range, options).await)?;
        let (group, resource) = self.resource(&start);
        self.metrics.lists.with_label_values(&[group, resource]).inc();
        self.metrics.listed.with_label_values(&[group, resource]).inc_by(listed.kvs.len() as u64);
        Ok(listed)
    }

    async fn count(&self, range: KeyRange) -> Result<CountResponse> {
        self.inner.count(range).await
    }

    async fn commit(&self, txn: Txn) -> Result<TxnOutcome> {
        let operation = match (&txn.op, txn.compare) {
            (Op::Delete, _) => "delete",
            (Op::Put { .. }, Some(0)) => "create",
            (Op::Put { .. }, _) => "update",
        };
        let (began, key) = (Instant::now(), txn.key.clone());
        self.done(operation, &key, began, self.inner.commit(txn).await)
    }

    async fn watch(&self, range: KeyRange, from: Option<Revision>) -> Result<Watch> {
        self.inner.watch(range, from).await
    }

    async fn request_progress(&self) -> Result<()> {
        self.inner.request_progress().await
    }

    async fn compact(&self, revision: Revision) -> Result<()> {
        self.inner.compact(revision).await
    }

    async fn current_revision(&self) -> Result<Revision> {
        self.inner.current_revision().await
    }

    fn check_writable(&self) -> Result<()> {
        self.inner.check_writable()
    }

    async fn failed(&self) -> Error {
        self.inner.failed().await
    }

    async fn close(&self) -> Result<()> {
        self.inner.close().await
    }
}
