//! Metrics of watch events (`apiserver_watch_events_total`, `apiserver_watch_events_sizes`).

use std::sync::Arc;
use std::time::Instant;

use prometheus::{Histogram, HistogramVec, IntCounter, IntCounterVec, Registry};
use request::RequestInfo;

use super::register::{counters, histograms};

const LIST_SECONDS: [f64; 17] =
    [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0];
const SIZES: [f64; 8] = [1024.0, 2048.0, 4096.0, 8192.0, 16384.0, 32768.0, 65536.0, 131_072.0];

/// The metrics of all watches. Clones share them.
#[derive(Clone)]
pub(super) struct WatchMetrics {
    total: IntCounterVec,
    sizes: HistogramVec,
    lists: HistogramVec,
}

/// The metrics of a watch request before its watch begins; in the extensions of the request.
#[derive(Clone)]
pub struct PendingWatchMetrics {
    metrics: WatchMetrics,
    info: Arc<RequestInfo>,
    began: Instant,
}

/// The series of a running watch.
pub struct SentEvents {
    total: IntCounter,
    sizes: Histogram,
    /// The start time and the series of the initial events, until they are sent.
    list: Option<(Instant, Histogram)>,
}

impl WatchMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let of = &["group", "version", "resource"];
        WatchMetrics {
            total: counters(registry, "apiserver_watch_events_total", "Number of events sent to watchers.", of),
            sizes: histograms(registry, "apiserver_watch_events_sizes", "Size of watch events, in bytes.", of, &SIZES),
            lists: histograms(
                registry,
                "apiserver_watch_list_duration_seconds",
                "Duration of sending the initial objects of a watch, in seconds.",
                &["group", "version", "resource", "scope"],
                &LIST_SECONDS,
            ),
        }
    }

    pub(super) fn of(&self, info: &Arc<RequestInfo>) -> PendingWatchMetrics {
        PendingWatchMetrics { metrics: self.clone(), info: info.clone(), began: Instant::now() }
    }
}

impl PendingWatchMetrics {
    /// Starts counting. The caller has verified that the resource exists, because the number of
    /// unknown names is unbounded.
    pub fn begin(&self) -> SentEvents {
        let RequestInfo { api_group, api_version, resource, name, namespace, .. } = &*self.info;
        let scope = match (name.as_str(), namespace.as_str()) {
            ("", "") => "cluster",
            ("", _) => "namespace",
            _ => "resource",
        };
        let labels = [api_group.as_str(), api_version, resource];
        SentEvents {
            total: self.metrics.total.with_label_values(&labels),
            sizes: self.metrics.sizes.with_label_values(&labels),
            list: Some((self.began, self.metrics.lists.with_label_values(&[labels[0], labels[1], labels[2], scope]))),
        }
    }
}

impl SentEvents {
    /// Records that the initial events have been sent.
    pub fn list_sent(&mut self) {
        if let Some((began, seconds)) = self.list.take() {
            seconds.observe(began.elapsed().as_secs_f64());
        }
    }

    /// Counts an event of this size.
    pub fn count(&self, bytes: usize) {
        self.total.inc();
        self.sizes.observe(bytes as f64);
    }
}
