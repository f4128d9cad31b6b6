//! Metrics of encryption, with upstream's names.

mod labels;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prometheus::core::Collector;
use prometheus::{
    GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGaugeVec, Opts, Registry,
    exponential_buckets,
};
use sha2::{Digest, Sha256};

use crate::failure::TransformFailure;
use labels::Latest;

/// The direction of a transformation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransformDirection {
    FromStorage,
    ToStorage,
}

impl TransformDirection {
    fn name(self) -> &'static str {
        match self {
            TransformDirection::FromStorage => "from_storage",
            TransformDirection::ToStorage => "to_storage",
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
    /// The label sets of the two metrics above; plugins choose the key IDs.
    keys_used: Mutex<Latest<4>>,
    key_reported_at: GaugeVec,
    keys_reported: Mutex<Latest<3>>,
    invalid_key_ids: IntCounterVec,
    sources: IntGaugeVec,
    reloads: IntCounterVec,
    reloaded_at: GaugeVec,
    configuration: IntGaugeVec,
}

impl Metrics {
    /// Creates and registers the metrics. `server` is the identity of this server in its cluster.
    pub fn new(registry: &Registry, server: &str) -> Self {
        let storage = |name: &str| format!("apiserver_storage_{name}");
        let envelope = |name: &str| format!("apiserver_envelope_encryption_{name}");
        let controller = |name: &str| format!("apiserver_encryption_config_controller_{name}");
        let key = ["transformation_type", "provider_name", "key_id_hash", "apiserver_id_hash"];
        let outcome = ["status", "apiserver_id_hash"];
        let of_values = buckets(5e-6, 25);
        Metrics(Arc::new(Inner {
            server: hash(server),
            operations: counters(
                registry,
                storage("transformation_operations_total"),
                "Number of value transformations, by resource, direction, provider or key, and outcome.",
                &["resource", "transformation_type", "transformer_prefix", "status"],
            ),
            durations: histograms(
                registry,
                storage("transformation_duration_seconds"),
                "Duration of value transformations, in seconds.",
                &["transformation_type", "transformer_prefix"],
                of_values,
            ),
            cache_misses: register(
                registry,
                IntCounter::new(
                    storage("envelope_transformation_cache_misses_total"),
                    "Number of data key requests to the KMS plugin.",
                ),
            ),
            key_generations: register(
                registry,
                Histogram::with_opts(
                    HistogramOpts::new(
                        storage("data_key_generation_duration_seconds"),
                        "Duration of data key generation, in seconds.",
                    )
                    .buckets(buckets(5e-6, 14)),
                ),
            ),
            key_generation_failures: register(
                registry,
                IntCounter::new(
                    storage("data_key_generation_failures_total"),
                    "Number of failed data key generations.",
                ),
            ),
            calls: histograms(
                registry,
                envelope("kms_operations_latency_seconds"),
                "Duration of KMS plugin calls, by gRPC status code, in seconds.",
                &["provider_name", "method_name", "grpc_status_code"],
                buckets(1e-4, 20),
            ),
            key_uses: counters(registry, envelope("key_id_hash_total"), "Number of uses of a KMS key.", &key),
            key_used_at: gauges(
                registry,
                envelope("key_id_hash_last_timestamp_seconds"),
                "Time of the last use of a KMS key, in seconds since 1970.",
                &key,
            ),
            keys_used: Mutex::default(),
            key_reported_at: gauges(
                registry,
                envelope("key_id_hash_status_last_timestamp_seconds"),
                "Time of the last KMS plugin status that reported the key as current, in seconds since 1970.",
                &key[1..],
            ),
            keys_reported: Mutex::default(),
            invalid_key_ids: counters(
                registry,
                envelope("invalid_key_id_from_status_total"),
                "Number of invalid key ids in status responses of KMS plugins.",
                &["provider_name", "error"],
            ),
            sources: int_gauges(
                registry,
                envelope("dek_source_cache_size"),
                "Number of decrypted data keys and seeds in the cache.",
                &["provider_name"],
            ),
            reloads: counters(
                registry,
                controller("automatic_reloads_total"),
                "Number of reloads of the encryption configuration, by outcome.",
                &outcome,
            ),
            reloaded_at: gauges(
                registry,
                controller("automatic_reload_last_timestamp_seconds"),
                "Time of the last reload of the encryption configuration, by outcome, in seconds since 1970.",
                &outcome,
            ),
            configuration: int_gauges(
                registry,
                controller("last_config_info"),
                "Hash of the encryption configuration in use; always 1.",
                &["apiserver_id_hash", "hash"],
            ),
        }))
    }

    /// Records the transformation of a value.
    pub fn transformed(
        &self,
        resource: &str,
        direction: TransformDirection,
        prefix: &str,
        elapsed: Duration,
        failure: Option<&TransformFailure>,
    ) {
        let status = failure.map_or("OK", TransformFailure::status);
        self.0.operations.with_label_values(&[resource, direction.name(), prefix, status]).inc();
        if failure.is_none() {
            self.0.durations.with_label_values(&[direction.name(), prefix]).observe(elapsed.as_secs_f64());
        }
    }

    /// Records a data key that was not cached.
    pub fn missed(&self) {
        self.0.cache_misses.inc();
    }

    /// Records the generation of a data key.
    pub fn generated(&self, elapsed: Duration, made: bool) {
        match made {
            true => self.0.key_generations.observe(elapsed.as_secs_f64()),
            false => self.0.key_generation_failures.inc(),
        }
    }

    /// Records a call of a plugin.
    pub fn called(&self, provider: &str, method: &str, status: &str, elapsed: Duration) {
        self.0.calls.with_label_values(&[provider, method, status]).observe(elapsed.as_secs_f64());
    }

    /// Records the use of a plugin's key.
    pub fn key_used(&self, direction: TransformDirection, provider: &str, key_id: &str) {
        let labels = [direction.name(), provider, &hash(key_id), &self.0.server];
        let evicted = self.0.keys_used.lock().unwrap_or_else(PoisonError::into_inner).touch(labels);
        self.0.key_uses.with_label_values(&labels).inc();
        self.0.key_used_at.with_label_values(&labels).set(now());
        if let Some(evicted) = evicted {
            // Both exist, because each label set was used.
            let _ = self.0.key_uses.remove_label_values(&evicted.each_ref().map(String::as_str));
            let _ = self.0.key_used_at.remove_label_values(&evicted.each_ref().map(String::as_str));
        }
    }

    /// Records the current key that a plugin reported.
    pub fn key_reported(&self, provider: &str, key_id: &str) {
        let labels = [provider, &hash(key_id), &self.0.server];
        let evicted = self.0.keys_reported.lock().unwrap_or_else(PoisonError::into_inner).touch(labels);
        self.0.key_reported_at.with_label_values(&labels).set(now());
        if let Some(evicted) = evicted {
            let _ = self.0.key_reported_at.remove_label_values(&evicted.each_ref().map(String::as_str));
        }
    }

    /// Records an invalid key ID that a plugin reported.
    pub fn invalid_key_reported(&self, provider: &str, why: &str) {
        self.0.invalid_key_ids.with_label_values(&[provider, why]).inc();
    }

    /// Sets the number of cached data keys of a provider.
    pub fn known_sources(&self, provider: &str, count: usize) {
        self.0.sources.with_label_values(&[provider]).set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// Records a reload of the configuration; the hash is that of a successfully loaded one.
    pub fn reloaded(&self, taken_over: Option<&str>) {
        let status = if taken_over.is_some() { "success" } else { "failure" };
        let labels = [status, &self.0.server];
        self.0.reloads.with_label_values(&labels).inc();
        self.0.reloaded_at.with_label_values(&labels).set(now());
        if let Some(hash) = taken_over {
            self.configured(hash);
        }
    }

    /// Sets the hash of the configuration in use.
    pub fn configured(&self, hash: &str) {
        self.0.configuration.reset();
        self.0.configuration.with_label_values(&[&self.0.server, hash]).set(1);
    }
}

/// Registers a metric. Names and labels are literals of this file, so the tests show that they are well-formed.
fn register<C: Collector + Clone + 'static>(registry: &Registry, metric: prometheus::Result<C>) -> C {
    let metric = metric.expect("a well-formed metric");
    let _ = registry.register(Box::new(metric.clone())); // fails only for a duplicate name
    metric
}

fn counters(registry: &Registry, name: String, help: &str, labels: &[&str]) -> IntCounterVec {
    register(registry, IntCounterVec::new(Opts::new(name, help), labels))
}

fn gauges(registry: &Registry, name: String, help: &str, labels: &[&str]) -> GaugeVec {
    register(registry, GaugeVec::new(Opts::new(name, help), labels))
}

fn int_gauges(registry: &Registry, name: String, help: &str, labels: &[&str]) -> IntGaugeVec {
    register(registry, IntGaugeVec::new(Opts::new(name, help), labels))
}

fn histograms(registry: &Registry, name: String, help: &str, labels: &[&str], buckets: Vec<f64>) -> HistogramVec {
    register(registry, HistogramVec::new(HistogramOpts::new(name, help).buckets(buckets), labels))
}

/// Returns bucket bounds, each twice the previous one.
fn buckets(start: f64, count: usize) -> Vec<f64> {
    exponential_buckets(start, 2.0, count).unwrap_or_default()
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// Returns the hash that logs and metrics have in place of a confidential text; empty for an empty text.
pub(crate) fn hash(text: &str) -> String {
    if text.is_empty() { String::new() } else { hash_of_bytes(text.as_bytes()) }
}

/// Returns `sha256:` and the hexadecimal digest.
pub(crate) fn hash_of_bytes(bytes: &[u8]) -> String {
    let digits: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}
