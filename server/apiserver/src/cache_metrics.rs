//! Metrics of the watch cache by resource, with upstream's names (upstream:
//! `storage/cacher/metrics`). The caches count; the collector sums up on each scrape.

use std::collections::HashMap;
use std::sync::Arc;

use prometheus::core::{Collector, Desc};
use prometheus::proto::{Bucket, Histogram, LabelPair, Metric, MetricFamily, MetricType};
use prometheus::{IntCounterVec, IntGaugeVec, Opts, Registry};
use registry::{ResourceStore, Stores};
use storage::cache::{CacheCounts, ResourceCache, Waits};

const RESOURCE_LABELS: [&str; 2] = ["group", "resource"];
const INDEX_LABELS: [&str; 3] = ["group", "resource", "index"];
/// Revisions are reported modulo 10^15, which a float represents exactly.
const REVISIONS: u64 = 1_000_000_000_000_000;

/// A metric of a resource's cache: name, help, and accessor.
type CounterDef = (&'static str, &'static str, fn(&CacheCounts) -> u64);

const COUNTS: [CounterDef; 6] = [
    ("apiserver_storage_events_received_total", "Number of watch events received from the store.", |c| c.changes.get()),
    ("apiserver_watch_cache_initializations_total", "Number of full reads of the store by the watch cache.", |c| {
        c.fillings.get()
    }),
    ("apiserver_watch_cache_events_received_total", "Number of changes applied to the watch cache.", |c| {
        c.changes.get()
    }),
    ("apiserver_watch_cache_events_dispatched_total", "Number of changes dispatched to watchers.", |c| c.changes.get()),
    ("apiserver_init_events_total", "Number of initial objects sent by watches.", |c| c.initial.get()),
    ("apiserver_terminated_watchers_total", "Number of watches terminated for slow clients.", |c| c.cut_off.get()),
];

const WAITED: &str = "apiserver_watch_cache_read_wait_seconds";

/// Collects the counts of the caches on each scrape.
pub struct CacheMetrics {
    resources: Arc<Stores>,
    counts: Vec<IntCounterVec>,
    lists: IntCounterVec,
    fetched: IntCounterVec,
    returned: IntCounterVec,
    revision: IntGaugeVec,
    capacity: IntGaugeVec,
    consistent: IntCounterVec,
    waited: Desc,
}

impl CacheMetrics {
    /// Registers the metrics of the caches of these resources.
    pub fn register(resources: &Arc<Stores>, registry: &Registry) {
        let metrics = CacheMetrics {
            resources: resources.clone(),
            counts: COUNTS.iter().map(|(name, help, _)| counters(name, help, &RESOURCE_LABELS)).collect(),
            lists: counters(
                "apiserver_cache_list_total",
                "Number of list requests served from the watch cache.",
                &INDEX_LABELS,
            ),
            fetched: counters(
                "apiserver_cache_list_fetched_objects_total",
                "Number of cached objects examined for list requests.",
                &INDEX_LABELS,
            ),
            returned: counters(
                "apiserver_cache_list_returned_objects_total",
                "Number of objects returned by list requests.",
                &RESOURCE_LABELS,
            ),
            revision: gauges(
                "apiserver_watch_cache_resource_version",
                "Resource version of the watch cache, modulo 10^15.",
            ),
            capacity: gauges("watch_cache_capacity", "Number of changes kept for resumed watches."),
            consistent: counters(
                "apiserver_watch_cache_consistent_read_total",
                "Number of consistent list requests, by whether the store served them instead of the cache.",
                &["group", "resource", "success", "fallback"],
            ),
            waited: waited(),
        };
        let _ = registry.register(Box::new(metrics)); // fails only for a registered name
    }

    fn read(&self, of: [&str; 2], resource: &ResourceStore) {
        for (counter, (_, _, read)) in self.counts.iter().zip(COUNTS) {
            raise(counter, &of, read(resource.cache.counts()));
        }
        raise(&self.returned, &of, resource.listed_objects());
        for used in resource.index_uses().filter(|used| used.lists > 0) {
            let labels = [of[0], of[1], &used.index];
            raise(&self.lists, &labels, used.lists);
            raise(&self.fetched, &labels, used.fetched);
        }
        let counts = resource.cache.counts();
        for (fallback, lists) in [("false", counts.consistent.get()), ("true", counts.fallbacks.get())] {
            if lists > 0 {
                raise(&self.consistent, &[of[0], of[1], "true", fallback], lists);
            }
        }
        let revision = resource.revision() % REVISIONS;
        self.revision.with_label_values(&of).set(i64::try_from(revision).unwrap_or_default());
        self.capacity.with_label_values(&of).set(ResourceCache::CAPACITY as i64);
    }
}

impl Collector for CacheMetrics {
    fn desc(&self) -> Vec<&Desc> {
        let counters = self.counts.iter().chain([&self.lists, &self.fetched, &self.returned, &self.consistent]);
        let gauges = [&self.revision, &self.capacity];
        let all = counters.flat_map(Collector::desc).chain(gauges.into_iter().flat_map(Collector::desc));
        all.chain([&self.waited]).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let mut waits = MetricFamily::default();
        waits.set_name(WAITED.into());
        waits.set_help(self.waited.help.clone());
        waits.set_field_type(MetricType::HISTOGRAM);
        for ((group, plural), resource) in self.resources.iter() {
            self.read([group, plural], resource);
            waits.mut_metric().extend(series([group, plural], &resource.cache.counts().waits));
        }
        let counters = self.counts.iter().chain([&self.lists, &self.fetched, &self.returned, &self.consistent]);
        let gauges = [&self.revision, &self.capacity];
        let all = counters.flat_map(Collector::collect).chain(gauges.into_iter().flat_map(Collector::collect));
        all.chain([waits]).collect()
    }
}

fn waited() -> Desc {
    let help = "Time that reads waited for the watch cache to become fresh, in seconds.";
    let labels = RESOURCE_LABELS.map(String::from).to_vec();
    Desc::new(WAITED.into(), help.into(), labels, HashMap::new()).expect("a well-formed metric")
}

/// Builds the histogram of a resource; nothing if no read waited.
fn series(of: [&str; 2], waits: &Waits) -> Option<Metric> {
    let counts = waits.cumulative();
    let total = counts[Waits::BOUNDS.len()];
    let mut histogram = Histogram::default();
    histogram.set_sample_count(total);
    histogram.set_sample_sum(waits.seconds());
    let bucket = |(bound, count): (&f64, &u64)| {
        let mut bucket = Bucket::default();
        bucket.set_upper_bound(*bound);
        bucket.set_cumulative_count(*count);
        bucket
    };
    histogram.set_bucket(Waits::BOUNDS.iter().zip(&counts).map(bucket).collect());
    let label = |(name, value): (&str, &str)| {
        let mut label = LabelPair::default();
        label.set_name(name.into());
        label.set_value(value.into());
        label
    };
    let mut metric = Metric::from_label(RESOURCE_LABELS.into_iter().zip(of).map(label).collect());
    metric.set_histogram(histogram);
    (total > 0).then_some(metric)
}

/// Raises a counter to a value that is counted elsewhere. As upstream, zero is not reported.
fn raise(counter: &IntCounterVec, labels: &[&str], now: u64) {
    if now == 0 {
        return;
    }
    let counter = counter.with_label_values(labels);
    counter.inc_by(now.saturating_sub(counter.get()));
}

fn counters(name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
    IntCounterVec::new(Opts::new(name, help), labels).expect("a well-formed metric")
}

fn gauges(name: &str, help: &str) -> IntGaugeVec {
    IntGaugeVec::new(Opts::new(name, help), &RESOURCE_LABELS).expect("a well-formed metric")
}
