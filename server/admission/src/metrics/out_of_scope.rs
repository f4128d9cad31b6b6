//! Durations of plugins for requests outside their scope.
//!
//! Upstream calls every enabled plugin for every request, and most of them return at once. This
//! server does not call them, and the histogram shows a duration of zero. A request is outside the
//! scope of some thirty plugins: one counter per set of plugins replaces thirty histograms.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use endpoints::Operation;
use prometheus::HistogramVec;
use prometheus::core::{Collector, Desc};
use prometheus::proto::{Histogram, LabelPair, Metric, MetricFamily};

use crate::plugins::{Plugin, PluginSet};
use crate::policies::operation_name;
use crate::step::AdmissionStep;

/// The value of the label `rejected`: a plugin that is not called rejects nothing.
const ADMITTED: &str = "false";

/// The plugins without the resource of a request in their scope, by step and operation.
type Skipped = (AdmissionStep, Operation, PluginSet);

/// Counts requests by the plugins that they skip. Clones share their state.
#[derive(Clone, Default)]
pub struct OutOfScope(Arc<RwLock<Vec<(Skipped, AtomicU64)>>>);

/// The plugins that one request has skipped so far. They are counted when this is dropped: a request
/// may end at any plugin.
pub struct Skipping<'c> {
    counts: &'c OutOfScope,
    step: AdmissionStep,
    operation: Operation,
    plugins: PluginSet,
}

impl Skipping<'_> {
    /// Adds a plugin.
    pub fn add(&mut self, plugin: Plugin) {
        self.plugins = self.plugins.with(plugin);
    }
}

impl Drop for Skipping<'_> {
    fn drop(&mut self) {
        self.counts.note(self.step, self.operation, self.plugins);
    }
}

impl OutOfScope {
    /// Begins a step of a request.
    pub fn begin(&self, step: AdmissionStep, operation: Operation) -> Skipping<'_> {
        Skipping { counts: self, step, operation, plugins: PluginSet::default() }
    }

    fn note(&self, step: AdmissionStep, operation: Operation, plugins: PluginSet) {
        if plugins == PluginSet::default() {
            return;
        }
        let skipped = (step, operation, plugins);
        let increment = |counts: &[(Skipped, AtomicU64)]| match counts.iter().find(|(of, _)| *of == skipped) {
            Some((_, count)) => {
                count.fetch_add(1, Ordering::Relaxed);
                true
            }
            None => false,
        };
        if increment(&self.0.read().unwrap_or_else(PoisonError::into_inner)) {
            return;
        }
        let mut counts = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if !increment(&counts) {
            counts.push((skipped, AtomicU64::new(1)));
        }
    }

    /// Returns the number of requests by the labels of the histogram.
    fn by_labels(&self) -> HashMap<[&'static str; 4], u64> {
        let mut counts = HashMap::new();
        for ((step, operation, plugins), count) in self.0.read().unwrap_or_else(PoisonError::into_inner).iter() {
            let count = count.load(Ordering::Relaxed);
            for plugin in Plugin::ALL.iter().filter(|plugin| plugins.contains(**plugin)) {
                let labels = [plugin.name(), step.name(), operation_name(*operation), ADMITTED];
                *counts.entry(labels).or_default() += count;
            }
        }
        counts
    }
}

/// The histogram of plugins, with a duration of zero for each request outside the scope.
pub struct PluginDurations {
    pub called: HistogramVec,
    pub out_of_scope: OutOfScope,
}

impl Collector for PluginDurations {
    fn desc(&self) -> Vec<&Desc> {
        self.called.desc()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let counts = self.out_of_scope.by_labels();
        for labels in counts.keys() {
            // A plugin that was never called has no histogram before.
            let _ = self.called.with_label_values(labels);
        }
        let mut families = self.called.collect();
        for metric in families.iter_mut().flat_map(MetricFamily::mut_metric) {
            if let Some(count) = labels_of(metric).and_then(|labels| counts.get(&labels)) {
                add_zeros(metric, *count);
            }
        }
        families
    }
}

/// Returns the values of the labels in the order of [`OutOfScope::by_labels`].
fn labels_of(metric: &Metric) -> Option<[&str; 4]> {
    let value = |name| metric.get_label().iter().find(|label| label.name() == name).map(LabelPair::value);
    Some([value("name")?, value("type")?, value("operation")?, value("rejected")?])
}

/// Adds observations of zero, which every bucket includes.
fn add_zeros(metric: &mut Metric, count: u64) {
    let before = metric.get_histogram();
    let mut histogram = Histogram::default();
    histogram.set_sample_count(before.get_sample_count() + count);
    histogram.set_sample_sum(before.get_sample_sum());
    let mut buckets = before.get_bucket().to_vec();
    for bucket in &mut buckets {
        bucket.set_cumulative_count(bucket.cumulative_count() + count);
    }
    histogram.set_bucket(buckets);
    metric.set_histogram(histogram);
}

#[cfg(test)]
mod tests {
    use prometheus::{HistogramOpts, Registry};

    use super::*;
    use crate::step::AdmissionStep::{Admit, Validate};

    /// Returns the count, the sum and the first bucket of a plugin's histogram.
    fn shown(registry: &Registry, labels: [&str; 4]) -> Option<(u64, f64, u64)> {
        let families = registry.gather();
        let metric = families[0].get_metric().iter().find(|metric| labels_of(metric) == Some(labels))?;
        let histogram = metric.get_histogram();
        Some((histogram.get_sample_count(), histogram.get_sample_sum(), histogram.get_bucket()[0].cumulative_count()))
    }

    #[test]
    fn skipped_requests_are_durations_of_zero() {
        let options = HistogramOpts::new("plugins", "Durations.").buckets(vec![0.1, 1.0]);
        let called = HistogramVec::new(options, &["name", "type", "operation", "rejected"]).unwrap();
        let (registry, out_of_scope) = (Registry::new(), OutOfScope::default());
        let collector = PluginDurations { called: called.clone(), out_of_scope: out_of_scope.clone() };
        registry.register(Box::new(collector)).unwrap();
        let (quota, images) = (Plugin::ResourceQuota, Plugin::AlwaysPullImages);
        for skipped in [&[quota, images][..], &[quota, images], &[images, quota], &[images]] {
            let mut request = out_of_scope.begin(Admit, Operation::Create);
            skipped.iter().for_each(|plugin| request.add(*plugin));
        }
        drop(out_of_scope.begin(Validate, Operation::Create));
        called.with_label_values(&[quota.name(), "admit", "CREATE", "false"]).observe(0.5);
        assert_eq!(shown(&registry, [quota.name(), "admit", "CREATE", "false"]), Some((4, 0.5, 3)));
        assert_eq!(shown(&registry, [images.name(), "admit", "CREATE", "false"]), Some((4, 0.0, 4)));
        assert_eq!(shown(&registry, [images.name(), "validate", "CREATE", "false"]), None);
    }
}
