//! Metrics of requests to other servers, with client-go's names
//! (`component-base/metrics/prometheus/restclient`). All servers of a process share them.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Instant;

use http::{Method, StatusCode, Uri};
use prometheus::core::Collector;
use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, Opts, Registry};

const SECONDS: [f64; 12] = [0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0];
/// 64 bytes to 16 MiB.
const SIZES: [f64; 11] =
    [64.0, 256.0, 512.0, 1024.0, 4096.0, 16384.0, 65536.0, 262144.0, 1048576.0, 4194304.0, 16777216.0];
/// The `code` label of a request without a response.
const NO_ANSWER: &str = "<error>";

static METRICS: LazyLock<ClientMetrics> = LazyLock::new(ClientMetrics::new);

struct ClientMetrics {
    requests: IntCounterVec,
    seconds: HistogramVec,
    sent: HistogramVec,
    received: HistogramVec,
}

impl ClientMetrics {
    fn new() -> Self {
        let histograms = |name: &str, help: &str, buckets: &[f64]| {
            let options = HistogramOpts::new(format!("rest_client_{name}"), help).buckets(buckets.to_vec());
            HistogramVec::new(options, &["verb", "host"]).expect("a well-formed metric")
        };
        let requests = Opts::new("rest_client_requests_total", "Number of requests to other servers, by status code.");
        ClientMetrics {
            requests: IntCounterVec::new(requests, &["code", "method", "host"]).expect("a well-formed metric"),
            seconds: histograms(
                "request_duration_seconds",
                "Latency of requests to other servers, in seconds.",
                &SECONDS,
            ),
            sent: histograms("request_size_bytes", "Size of request bodies sent to other servers, in bytes.", &SIZES),
            received: histograms("response_size_bytes", "Size of response bodies of other servers, in bytes.", &SIZES),
        }
    }
}

/// Registers the metrics.
pub fn register(registry: &Registry) {
    let ClientMetrics { requests, seconds, sent, received } = &*METRICS;
    register_collector(registry, requests);
    for histograms in [seconds, sent, received] {
        register_collector(registry, histograms);
    }
}

fn register_collector(registry: &Registry, collector: &(impl Collector + Clone + 'static)) {
    let _ = registry.register(Box::new(collector.clone())); // fails only for a registered name
}

/// A request in progress. It counts as failed if it is dropped before a response.
pub(crate) struct MeasuredRequest<'c> {
    method: &'c str,
    host: &'c str,
    began: Instant,
    /// 0 until the response.
    code: AtomicU16,
}

impl<'c> MeasuredRequest<'c> {
    /// Starts the measurement of a request. `bytes` is the size of its body, if known.
    pub fn begin(method: &'c Method, uri: &'c Uri, bytes: Option<u64>) -> Self {
        let (method, host) = (method.as_str(), uri.authority().map_or("", |authority| authority.as_str()));
        if let Some(bytes) = bytes {
            METRICS.sent.with_label_values(&[method, host]).observe(bytes as f64);
        }
        MeasuredRequest { method, host, began: Instant::now(), code: AtomicU16::new(0) }
    }

    /// Records the status code of the response.
    pub fn answered(&self, code: StatusCode) {
        self.code.store(code.as_u16(), Ordering::Relaxed);
    }

    /// Records the size of the complete response.
    pub fn received(&self, bytes: usize) {
        METRICS.received.with_label_values(&[self.method, self.host]).observe(bytes as f64);
    }
}

impl Drop for MeasuredRequest<'_> {
    fn drop(&mut self) {
        METRICS.seconds.with_label_values(&[self.method, self.host]).observe(self.began.elapsed().as_secs_f64());
        let code = StatusCode::from_u16(*self.code.get_mut());
        let code = code.as_ref().map_or(NO_ANSWER, StatusCode::as_str);
        METRICS.requests.with_label_values(&[code, self.method, self.host]).inc();
    }
}
