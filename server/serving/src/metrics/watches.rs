//! What watches send (`apiserver_watch_events_total`, `apiserver_watch_events_sizes`).
//!
//! A change is told to hundreds of watchers at once, by several workers. Each worker counts in a place of its own: if all counted in one, they
//! would spend more on passing that from one processor to the other than on what they count.

use std::array;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prometheus::core::{Collector, Desc, Describer};
use prometheus::proto::{Bucket, Counter, Histogram, LabelPair, Metric, MetricFamily, MetricType};
use prometheus::{Opts, Registry};

use super::registered;
use crate::request_info::RequestInfo;

const SIZES: [f64; 8] = [1024.0, 2048.0, 4096.0, 8192.0, 16384.0, 32768.0, 65536.0, 131_072.0];
/// Of which resource. Sorted, as labels are shown.
const LABELS: [&str; 3] = ["group", "resource", "version"];
/// Workers beyond so many share places.
const PLACES: usize = 8;

/// The metrics of all watches. Clones share them.
#[derive(Clone)]
pub(super) struct WatchMetrics(Arc<All>);

struct All {
    total: Desc,
    sizes: Desc,
    /// By the values of [`LABELS`].
    resources: Mutex<BTreeMap<[String; 3], Arc<Sent>>>,
}

/// What watches of one resource have sent.
#[derive(Default)]
struct Sent([Place; PLACES]);

/// What a worker has sent of it. No two are in one line of a processor's cache, nor in two that it fetches together.
#[derive(Default)]
#[repr(align(128))]
struct Place {
    bytes: AtomicU64,
    /// Events of up to each of [`SIZES`], and of more.
    events: [AtomicU64; SIZES.len() + 1],
}

/// Those of a watch that may begin; in the extensions of its request.
#[derive(Clone)]
pub struct Watched {
    metrics: WatchMetrics,
    info: Arc<RequestInfo>,
}

/// Those of a watch that has begun.
pub struct SentEvents(Arc<Sent>);

impl WatchMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let describe =
            |name: &str, help: &str| Opts::new(name, help).variable_labels(LABELS.map(String::from).to_vec());
        let desc = |name, help| describe(name, help).describe().expect("a well-formed metric");
        let all = All {
            total: desc("apiserver_watch_events_total", "Events that were sent to watchers."),
            sizes: desc("apiserver_watch_events_sizes", "Bytes of events of watches."),
            resources: Mutex::default(),
        };
        registered(registry, WatchMetrics(Arc::new(all)))
    }

    pub(super) fn of(&self, info: &Arc<RequestInfo>) -> Watched {
        Watched { metrics: self.clone(), info: info.clone() }
    }
}

impl Watched {
    /// Begins to count. Whoever calls this knows that there is such a resource: everybody can ask for names that are not, without end.
    pub fn begin(&self) -> SentEvents {
        let RequestInfo { api_group, api_version, resource, .. } = &*self.info;
        let labels = [api_group.clone(), resource.clone(), api_version.clone()];
        SentEvents(self.metrics.0.resources().entry(labels).or_default().clone())
    }
}

impl SentEvents {
    /// Counts an event of so many bytes.
    pub fn count(&self, bytes: usize) {
        thread_local! {
            static PLACE: usize = {
                static NEXT: AtomicUsize = AtomicUsize::new(0);
                NEXT.fetch_add(1, Ordering::Relaxed) % PLACES
            };
        }
        let place = &self.0.0[PLACE.with(|place| *place)];
        place.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        place.events[SIZES.partition_point(|size| *size < bytes as f64)].fetch_add(1, Ordering::Relaxed);
    }
}

impl All {
    fn resources(&self) -> MutexGuard<'_, BTreeMap<[String; 3], Arc<Sent>>> {
        self.resources.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn family(&self, desc: &Desc, kind: MetricType, fill: impl Fn(&Histogram, &mut Metric)) -> MetricFamily {
        let series = |(values, sent): (&[String; 3], &Arc<Sent>)| {
            let labels = LABELS.iter().zip(values).map(|(name, value)| {
                let mut label = LabelPair::default();
                label.set_name((*name).to_owned());
                label.set_value(value.clone());
                label
            });
            let mut metric = Metric::from_label(labels.collect());
            fill(&sent.sum(), &mut metric);
            metric
        };
        let mut family = MetricFamily::default();
        family.set_name(desc.fq_name.clone());
        family.set_help(desc.help.clone());
        family.set_field_type(kind);
        family.set_metric(self.resources().iter().map(series).collect());
        family
    }
}

impl Collector for WatchMetrics {
    fn desc(&self) -> Vec<&Desc> {
        vec![&self.0.total, &self.0.sizes]
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let total = self.0.family(&self.0.total, MetricType::COUNTER, |sizes, metric| {
            let mut counter = Counter::default();
            counter.set_value(sizes.get_sample_count() as f64);
            metric.set_counter(counter);
        });
        let sizes =
            self.0.family(&self.0.sizes, MetricType::HISTOGRAM, |sizes, metric| metric.set_histogram(sizes.clone()));
        vec![total, sizes]
    }
}

impl Sent {
    /// What all have counted.
    fn sum(&self) -> Histogram {
        let sum = |of: &dyn Fn(&Place) -> &AtomicU64| {
            self.0.iter().map(|place| of(place).load(Ordering::Relaxed)).sum::<u64>()
        };
        let counts: [u64; SIZES.len() + 1] = array::from_fn(|index| sum(&|place| &place.events[index]));
        let mut up_to = 0;
        let buckets = SIZES.iter().zip(counts).map(|(size, count)| {
            up_to += count;
            let mut bucket = Bucket::default();
            bucket.set_upper_bound(*size);
            bucket.set_cumulative_count(up_to);
            bucket
        });
        let mut histogram = Histogram::default();
        histogram.set_bucket(buckets.collect());
        histogram.set_sample_count(counts.iter().sum());
        histogram.set_sample_sum(sum(&|place| &place.bytes) as f64);
        histogram
    }
}

#[cfg(test)]
mod tests {
    use prometheus::TextEncoder;

    use super::*;

    #[test]
    fn what_all_workers_send_is_counted() {
        let registry = Registry::new();
        let metrics = WatchMetrics::new(&registry);
        let info = |group: &str| {
            let (api_group, api_version, resource) = (group.to_owned(), "v1".to_owned(), "things".to_owned());
            Arc::new(RequestInfo { api_group, api_version, resource, ..RequestInfo::default() })
        };
        let watches =
            [metrics.of(&info("")).begin(), metrics.of(&info("")).begin(), metrics.of(&info("example.com")).begin()];
        std::thread::scope(|scope| {
            for _ in 0..2 * PLACES {
                scope.spawn(|| [1024, 1025, 200_000].map(|bytes| watches[0].count(bytes)));
            }
        });
        watches[1].count(1);
        let text = TextEncoder::new().encode_to_string(&registry.gather()).unwrap();
        let core = r#"{group="",resource="things",version="v1""#;
        for line in [
            format!("apiserver_watch_events_total{core}}} 49"),
            format!("apiserver_watch_events_sizes_bucket{core},le=\"1024\"}} 17"),
            format!("apiserver_watch_events_sizes_bucket{core},le=\"131072\"}} 33"),
            format!("apiserver_watch_events_sizes_bucket{core},le=\"+Inf\"}} 49"),
            format!("apiserver_watch_events_sizes_sum{core}}} {}", 16 * 202_049 + 1),
            format!("apiserver_watch_events_sizes_count{core}}} 49"),
            r#"apiserver_watch_events_total{group="example.com",resource="things",version="v1"} 0"#.to_owned(),
        ] {
            assert!(text.lines().any(|shown| shown == line), "{line}\n{text}");
        }
    }
}
