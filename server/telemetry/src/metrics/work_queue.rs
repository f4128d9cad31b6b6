//! Metrics of work queues (upstream: `component-base/metrics/prometheus/workqueue`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{GaugeVec, Histogram, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry};

use super::register::{counters, gauges, histograms};

/// The products as upstream computes them, because bucket bounds are part of the series.
const SECONDS: [f64; 10] = [1e-8, 1e-7, 1e-6, 9.999999999999999e-6, 9.999999999999999e-5, 1e-3, 1e-2, 0.1, 1.0, 10.0];
const NAME: [&str; 1] = ["name"];

/// The metrics of all work queues. Clones share them.
#[derive(Clone)]
pub(super) struct WorkQueues {
    adds: IntCounterVec,
    depth: IntGaugeVec,
    waited: HistogramVec,
    worked: HistogramVec,
    retries: IntCounterVec,
    unfinished: Unfinished,
}

/// The metrics of one work queue. Clones share them.
#[derive(Clone)]
pub struct WorkQueue {
    adds: IntCounter,
    depth: IntGauge,
    waited: Histogram,
    worked: Histogram,
    retries: IntCounter,
    begun: Arc<Begun>,
}

/// A queued item.
#[must_use]
pub struct Waiting {
    queue: WorkQueue,
    since: Instant,
}

/// An item being processed; dropping it ends the processing.
#[must_use]
pub struct Working {
    queue: WorkQueue,
    number: u64,
    since: Instant,
}

/// The start times of unfinished work.
#[derive(Default)]
struct Begun(Mutex<(u64, HashMap<u64, Instant>)>);

/// The name of a work queue and its unfinished work.
type Named = (String, Arc<Begun>);

/// Unfinished work, measured at each collection.
#[derive(Clone)]
struct Unfinished {
    queues: Arc<Mutex<Vec<Named>>>,
    sum: GaugeVec,
    longest: GaugeVec,
}

impl WorkQueues {
    pub fn new(registry: &Registry) -> Self {
        let gauge = |name: &str, help: &str| GaugeVec::new(Opts::new(name, help), &NAME).expect("a well-formed metric");
        let unfinished = Unfinished {
            queues: Arc::default(),
            sum: gauge("workqueue_unfinished_work_seconds", "Total time of the work in progress, in seconds."),
            longest: gauge(
                "workqueue_longest_running_processor_seconds",
                "Time of the oldest work in progress, in seconds.",
            ),
        };
        let _ = registry.register(Box::new(unfinished.clone())); // only a name registered twice is refused
        WorkQueues {
            adds: counters(registry, "workqueue_adds_total", "Number of items added to a work queue.", &NAME),
            depth: gauges(registry, "workqueue_depth", "Number of items in a work queue.", &NAME),
            waited: histograms(
                registry,
                "workqueue_queue_duration_seconds",
                "Time that items waited in a work queue, in seconds.",
                &NAME,
                &SECONDS,
            ),
            worked: histograms(
                registry,
                "workqueue_work_duration_seconds",
                "Duration of processing an item, in seconds.",
                &NAME,
                &SECONDS,
            ),
            retries: counters(
                registry,
                "workqueue_retries_total",
                "Items that have to be worked on again after a failure.",
                &NAME,
            ),
            unfinished,
        }
    }

    /// The metrics of the work queue with this name.
    pub fn of(&self, name: &str) -> WorkQueue {
        let begun = Arc::<Begun>::default();
        let mut queues = self.unfinished.queues.lock().unwrap_or_else(PoisonError::into_inner);
        // A controller that loses and regains its lease has a new queue with the same name.
        queues.retain(|(_, begun)| Arc::strong_count(begun) > 1);
        queues.push((name.to_owned(), begun.clone()));
        let name = &[name];
        WorkQueue {
            adds: self.adds.with_label_values(name),
            depth: self.depth.with_label_values(name),
            waited: self.waited.with_label_values(name),
            worked: self.worked.with_label_values(name),
            retries: self.retries.with_label_values(name),
            begun,
        }
    }
}

impl WorkQueue {
    /// Records an added item.
    pub fn add(&self) -> Waiting {
        self.adds.inc();
        self.depth.inc();
        Waiting { queue: self.clone(), since: Instant::now() }
    }

    /// Records a failed item, which will be added again.
    pub fn failed(&self) {
        self.retries.inc();
    }
}

impl Waiting {
    /// Records that the processing of the item starts.
    pub fn begin(self) -> Working {
        self.queue.waited.observe(self.since.elapsed().as_secs_f64());
        let (queue, since) = (self.queue.clone(), Instant::now());
        let mut begun = queue.begun.0.lock().unwrap_or_else(PoisonError::into_inner);
        begun.0 += 1;
        let number = begun.0;
        begun.1.insert(number, since);
        drop(begun);
        Working { queue, number, since }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.queue.depth.dec();
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.queue.begun.0.lock().unwrap_or_else(PoisonError::into_inner).1.remove(&self.number);
        self.queue.worked.observe(self.since.elapsed().as_secs_f64());
    }
}

impl Collector for Unfinished {
    fn desc(&self) -> Vec<&Desc> {
        [self.sum.desc(), self.longest.desc()].concat()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        for (name, begun) in self.queues.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let begun = begun.0.lock().unwrap_or_else(PoisonError::into_inner);
            let times = begun.1.values().map(|since| since.elapsed().as_secs_f64());
            let (sum, longest) = times.fold((0.0, 0.0), |(sum, longest): (f64, f64), t| (sum + t, longest.max(t)));
            self.sum.with_label_values(&[name]).set(sum);
            self.longest.with_label_values(&[name]).set(longest);
        }
        [self.sum.collect(), self.longest.collect()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_counted() {
        let registry = Registry::new();
        let queue = WorkQueues::new(&registry).of("a");
        let shown = || prometheus::TextEncoder::new().encode_to_string(&registry.gather()).unwrap();
        let waiting = queue.add();
        assert!(shown().contains("workqueue_depth{name=\"a\"} 1\n"));
        let working = waiting.begin();
        let text = shown();
        assert!(text.contains("workqueue_depth{name=\"a\"} 0\n"), "{text}");
        assert!(!text.contains("workqueue_unfinished_work_seconds{name=\"a\"} 0\n"), "{text}");
        drop(working);
        queue.failed();
        drop(queue.add());
        let text = shown();
        for line in [
            "workqueue_adds_total{name=\"a\"} 2\n",
            "workqueue_retries_total{name=\"a\"} 1\n",
            "workqueue_work_duration_seconds_count{name=\"a\"} 1\n",
            "workqueue_unfinished_work_seconds{name=\"a\"} 0\n",
            "workqueue_depth{name=\"a\"} 0\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
    }
}
