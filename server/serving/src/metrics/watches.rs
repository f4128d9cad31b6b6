//! What watches send (`apiserver_watch_events_total`, `apiserver_watch_events_sizes`).

use std::sync::Arc;

use prometheus::{Histogram, HistogramVec, IntCounter, IntCounterVec, Registry};

use super::{counters, histograms};
use crate::request_info::RequestInfo;

const SIZES: [f64; 8] = [1024.0, 2048.0, 4096.0, 8192.0, 16384.0, 32768.0, 65536.0, 131_072.0];

/// The metrics of all watches. Clones share them.
#[derive(Clone)]
pub(super) struct WatchMetrics {
    total: IntCounterVec,
    sizes: HistogramVec,
}

/// Those of a watch that may begin; in the extensions of its request.
#[derive(Clone)]
pub struct Watched {
    metrics: WatchMetrics,
    info: Arc<RequestInfo>,
}

/// Those of a watch that has begun.
pub struct SentEvents {
    total: IntCounter,
    sizes: Histogram,
}

impl WatchMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let of = &["group", "version", "resource"];
        WatchMetrics {
            total: counters(registry, "apiserver_watch_events_total", "Events that were sent to watchers.", of),
            sizes: histograms(registry, "apiserver_watch_events_sizes", "Bytes of events of watches.", of, &SIZES),
        }
    }

    pub(super) fn of(&self, info: &Arc<RequestInfo>) -> Watched {
        Watched { metrics: self.clone(), info: info.clone() }
    }
}

impl Watched {
    /// Begins to count. Whoever calls this knows that there is such a resource: everybody can ask for names that are not, without end.
    pub fn begin(&self) -> SentEvents {
        let RequestInfo { api_group, api_version, resource, .. } = &*self.info;
        let labels = [api_group.as_str(), api_version, resource];
        SentEvents {
            total: self.metrics.total.with_label_values(&labels),
            sizes: self.metrics.sizes.with_label_values(&labels),
        }
    }
}

impl SentEvents {
    /// Counts an event of so many bytes.
    pub fn count(&self, bytes: usize) {
        self.total.inc();
        self.sizes.observe(bytes as f64);
    }
}
