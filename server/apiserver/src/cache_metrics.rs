//! What the watch cache does, by resource and under upstream's names (upstream: `storage/cacher/metrics`). The caches count; whoever asks for the
//! metrics adds up.

use std::sync::Arc;

use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{IntCounterVec, IntGaugeVec, Opts, Registry};
use registry::{ResourceStore, Stores};
use storage::cache::{Counts, ResourceCache};

const OF: [&str; 2] = ["group", "resource"];
const OF_INDEX: [&str; 3] = ["group", "resource", "index"];
/// Revisions are shown by their last fifteen digits, which a float holds exactly.
const REVISIONS: u64 = 1_000_000_000_000_000;

/// A metric of a resource's cache: name, help, and what is read.
type Of = (&'static str, &'static str, fn(&Counts) -> u64);

const COUNTS: [Of; 6] = [
    ("apiserver_storage_events_received_total", "Changes that the store told of.", |c| c.changes.get()),
    ("apiserver_watch_cache_initializations_total", "How often the cache read everything.", |c| c.fillings.get()),
    ("apiserver_watch_cache_events_received_total", "Changes that the cache took in.", |c| c.changes.get()),
    ("apiserver_watch_cache_events_dispatched_total", "Changes that were offered to watchers.", |c| c.changes.get()),
    ("apiserver_init_events_total", "Objects that watches began with.", |c| c.initial.get()),
    ("apiserver_terminated_watchers_total", "Watches that ended because their clients did not keep up.", |c| {
        c.cut_off.get()
    }),
];

/// Reads the caches whenever somebody asks.
pub struct CacheMetrics {
    resources: Arc<Stores>,
    counts: Vec<IntCounterVec>,
    lists: IntCounterVec,
    fetched: IntCounterVec,
    returned: IntCounterVec,
    revision: IntGaugeVec,
    capacity: IntGaugeVec,
}

impl CacheMetrics {
    /// Shows what the caches of these resources do.
    pub fn register(resources: &Arc<Stores>, registry: &Registry) {
        let metrics = CacheMetrics {
            resources: resources.clone(),
            counts: COUNTS.iter().map(|(name, help, _)| counters(name, help, &OF)).collect(),
            lists: counters("apiserver_cache_list_total", "Lists that the cache answered.", &OF_INDEX),
            fetched: counters(
                "apiserver_cache_list_fetched_objects_total",
                "Objects that were looked at for lists.",
                &OF_INDEX,
            ),
            returned: counters("apiserver_cache_list_returned_objects_total", "Objects that lists have shown.", &OF),
            revision: gauges("apiserver_watch_cache_resource_version", "How far the cache is, in fifteen digits."),
            capacity: gauges("watch_cache_capacity", "How many changes are kept for watches that resume."),
        };
        let _ = registry.register(Box::new(metrics)); // only a name registered twice is refused
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
        let revision = resource.revision() % REVISIONS;
        self.revision.with_label_values(&of).set(i64::try_from(revision).unwrap_or_default());
        self.capacity.with_label_values(&of).set(ResourceCache::CAPACITY as i64);
    }
}

impl Collector for CacheMetrics {
    fn desc(&self) -> Vec<&Desc> {
        let counters = self.counts.iter().chain([&self.lists, &self.fetched, &self.returned]);
        let gauges = [&self.revision, &self.capacity];
        counters.flat_map(Collector::desc).chain(gauges.into_iter().flat_map(Collector::desc)).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        for ((group, plural), resource) in self.resources.iter() {
            self.read([group, plural], resource);
        }
        let counters = self.counts.iter().chain([&self.lists, &self.fetched, &self.returned]);
        let gauges = [&self.revision, &self.capacity];
        counters.flat_map(Collector::collect).chain(gauges.into_iter().flat_map(Collector::collect)).collect()
    }
}

/// Lets a counter show what is counted elsewhere.
fn raise(counter: &IntCounterVec, labels: &[&str], now: u64) {
    let counter = counter.with_label_values(labels);
    counter.inc_by(now.saturating_sub(counter.get()));
}

fn counters(name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
    IntCounterVec::new(Opts::new(name, help), labels).expect("a well-formed metric")
}

fn gauges(name: &str, help: &str) -> IntGaugeVec {
    IntGaugeVec::new(Opts::new(name, help), &OF).expect("a well-formed metric")
}
