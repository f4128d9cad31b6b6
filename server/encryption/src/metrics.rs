//! What operators see of encryption, by upstream's names.

mod labels;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prometheus::core::Collector;
use prometheus::{
    GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGaugeVec, Opts, Registry,
    exponential_buckets,
};
use sha2::{Digest, Sha256};

use crate::failure::Failure;
use labels::Latest;

/// Which way a value goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    FromStorage,
    ToStorage,
}

impl Direction {
    fn name(self) -> &'static str {
        match self {
            Direction::FromStorage => "from_storage",
            Direction::ToStorage => "to_storage",
        }
    }
}

/// The metrics of a server. Clones share them.
#[derive(Clone)]
pub(crate) struct Metrics(Arc<Inner>);

struct Inner {
    /// Hash of the identity of this server.
    server: String,
    operations: IntCounterVec,
    durations: HistogramVec,
    cache_misses: IntCounter,
    key_generations: Histogram,
    key_generation_failures: IntCounter,
    calls: HistogramVec,
    key_uses: IntCounterVec,
    key_used_at: GaugeVec,
    /// The label sets of the two above, of which plugins make up the key ids.
    keys_used: Mutex<Latest<4>>,
    key_said_at: GaugeVec,
    keys_said: Mutex<Latest<3>>,
    invalid_key_ids: IntCounterVec,
    sources: IntGaugeVec,
    reloads: IntCounterVec,
    reloaded_at: GaugeVec,
    configuration: IntGaugeVec,
}

impl Metrics {
    /// Registers them. `server` is the identity of this server among those of its cluster.
    pub fn new(registry: &Registry, server: &str) -> Self {
        let storage = |name: &str| format!("apiserver_storage_{name}");
        let envelope = |name: &str| format!("apiserver_envelope_encryption_{name}");
        let controller = |name: &str| format!("apiserver_encryption_config_controller_{name}");
        let key = ["transformation_type", "provider_name", "key_id_hash", "apiserver_id_hash"];
        let outcome = ["status", "apiserver_id_hash"];
        let of_values = buckets(5e-6, 25);
        Metrics(Arc::new(Inner {
            server: hash(server),
            operations: register(
                registry,
                IntCounterVec::new(
                    Opts::new(
                        storage("transformation_operations_total"),
                        "Transformations of values, by resource, direction, provider or key, and outcome.",
                    ),
                    &["resource", "transformation_type", "transformer_prefix", "status"],
                ),
            ),
            durations: register(
                registry,
                HistogramVec::new(
                    HistogramOpts::new(
                        storage("transformation_duration_seconds"),
                        "How long transformations of values take.",
                    )
                    .buckets(of_values),
                    &["transformation_type", "transformer_prefix"],
                ),
            ),
            cache_misses: register(
                registry,
                IntCounter::new(
                    storage("envelope_transformation_cache_misses_total"),
                    "Data keys that a KMS plugin had to be asked for.",
                ),
            ),
            key_generations: register(
                registry,
                Histogram::with_opts(
                    HistogramOpts::new(
                        storage("data_key_generation_duration_seconds"),
                        "How long it takes to make data keys.",
                    )
                    .buckets(buckets(5e-6, 14)),
                ),
            ),
            key_generation_failures: register(
                registry,
                IntCounter::new(storage("data_key_generation_failures_total"), "Data keys that could not be made."),
            ),
            calls: register(
                registry,
                HistogramVec::new(
                    HistogramOpts::new(
                        envelope("kms_operations_latency_seconds"),
                        "How long calls of KMS plugins take, by their outcome.",
                    )
                    .buckets(buckets(1e-4, 20)),
                    &["provider_name", "method_name", "grpc_status_code"],
                ),
            ),
            key_uses: register(
                registry,
                IntCounterVec::new(Opts::new(envelope("key_id_hash_total"), "Uses of a key of a KMS plugin."), &key),
            ),
            key_used_at: register(
                registry,
                GaugeVec::new(
                    Opts::new(
                        envelope("key_id_hash_last_timestamp_seconds"),
                        "When a key of a KMS plugin was last used.",
                    ),
                    &key,
                ),
            ),
            keys_used: Mutex::default(),
            key_said_at: register(
                registry,
                GaugeVec::new(
                    Opts::new(
                        envelope("key_id_hash_status_last_timestamp_seconds"),
                        "When a KMS plugin last said that a key is its current one.",
                    ),
                    &key[1..],
                ),
            ),
            keys_said: Mutex::default(),
            invalid_key_ids: register(
                registry,
                IntCounterVec::new(
                    Opts::new(
                        envelope("invalid_key_id_from_status_total"),
                        "Malformed key ids that KMS plugins said were current.",
                    ),
                    &["provider_name", "error"],
                ),
            ),
            sources: register(
                registry,
                IntGaugeVec::new(
                    Opts::new(envelope("dek_source_cache_size"), "Data keys and seeds that are known in the clear."),
                    &["provider_name"],
                ),
            ),
            reloads: register(
                registry,
                IntCounterVec::new(
                    Opts::new(
                        controller("automatic_reloads_total"),
                        "Changes of the configuration of encryption that were taken over, or could not be.",
                    ),
                    &outcome,
                ),
            ),
            reloaded_at: register(
                registry,
                GaugeVec::new(
                    Opts::new(
                        controller("automatic_reload_last_timestamp_seconds"),
                        "When a changed configuration of encryption was last taken over, or could not be.",
                    ),
                    &outcome,
                ),
            ),
            configuration: register(
                registry,
                IntGaugeVec::new(
                    Opts::new(
                        controller("last_config_info"),
                        "The hash of the configuration of encryption that is in use.",
                    ),
                    &["apiserver_id_hash", "hash"],
                ),
            ),
        }))
    }

    /// A value was transformed, or could not be.
    pub fn transformed(
        &self,
        resource: &str,
        direction: Direction,
        prefix: &str,
        elapsed: Duration,
        failure: Option<&Failure>,
    ) {
        let status = failure.map_or("OK", Failure::status);
        self.0.operations.with_label_values(&[resource, direction.name(), prefix, status]).inc();
        if failure.is_none() {
            self.0.durations.with_label_values(&[direction.name(), prefix]).observe(elapsed.as_secs_f64());
        }
    }

    /// A plugin has to be asked for a data key.
    pub fn missed(&self) {
        self.0.cache_misses.inc();
    }

    /// A data key was made, or could not be.
    pub fn generated(&self, elapsed: Duration, made: bool) {
        match made {
            true => self.0.key_generations.observe(elapsed.as_secs_f64()),
            false => self.0.key_generation_failures.inc(),
        }
    }

    /// A plugin was called.
    pub fn called(&self, provider: &str, method: &str, status: &str, elapsed: Duration) {
        self.0.calls.with_label_values(&[provider, method, status]).observe(elapsed.as_secs_f64());
    }

    /// A plugin's key was used.
    pub fn key_used(&self, direction: Direction, provider: &str, key_id: &str) {
        let labels = [direction.name(), provider, &hash(key_id), &self.0.server];
        let forgotten = self.0.keys_used.lock().unwrap_or_else(PoisonError::into_inner).touch(labels);
        self.0.key_uses.with_label_values(&labels).inc();
        self.0.key_used_at.with_label_values(&labels).set(now());
        if let Some(forgotten) = forgotten {
            // They are there: each was touched with its labels.
            let _ = self.0.key_uses.remove_label_values(&forgotten.each_ref().map(String::as_str));
            let _ = self.0.key_used_at.remove_label_values(&forgotten.each_ref().map(String::as_str));
        }
    }

    /// A plugin said which key is its current one.
    pub fn key_said(&self, provider: &str, key_id: &str) {
        let labels = [provider, &hash(key_id), &self.0.server];
        let forgotten = self.0.keys_said.lock().unwrap_or_else(PoisonError::into_inner).touch(labels);
        self.0.key_said_at.with_label_values(&labels).set(now());
        if let Some(forgotten) = forgotten {
            let _ = self.0.key_said_at.remove_label_values(&forgotten.each_ref().map(String::as_str));
        }
    }

    /// A plugin said that its current key is one that cannot be.
    pub fn invalid_key_said(&self, provider: &str, why: &str) {
        self.0.invalid_key_ids.with_label_values(&[provider, why]).inc();
    }

    /// So many data keys of a provider are known.
    pub fn known_sources(&self, provider: &str, count: usize) {
        self.0.sources.with_label_values(&[provider]).set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// The configuration has changed; the hash of it where it was taken over.
    pub fn reloaded(&self, taken_over: Option<&str>) {
        let status = if taken_over.is_some() { "success" } else { "failure" };
        let labels = [status, &self.0.server];
        self.0.reloads.with_label_values(&labels).inc();
        self.0.reloaded_at.with_label_values(&labels).set(now());
        if let Some(hash) = taken_over {
            self.configured(hash);
        }
    }

    /// The configuration with this hash is in use.
    pub fn configured(&self, hash: &str) {
        self.0.configuration.reset();
        self.0.configuration.with_label_values(&[&self.0.server, hash]).set(1);
    }
}

/// Names and labels are literals of this file; that they are well-formed is what the tests show.
fn register<C: Collector + Clone + 'static>(registry: &Registry, metric: prometheus::Result<C>) -> C {
    let metric = metric.expect("a well-formed metric");
    let _ = registry.register(Box::new(metric.clone())); // only a name registered twice is refused
    metric
}

/// Each twice as large as the one before.
fn buckets(start: f64, count: usize) -> Vec<f64> {
    exponential_buckets(start, 2.0, count).unwrap_or_default()
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// How logs and metrics name what is not for everybody: its hash, or nothing when there is nothing.
pub(crate) fn hash(text: &str) -> String {
    if text.is_empty() { String::new() } else { hash_of_bytes(text.as_bytes()) }
}

/// `sha256:` and the digits.
pub(crate) fn hash_of_bytes(bytes: &[u8]) -> String {
    let digits: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}
