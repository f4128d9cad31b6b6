//! Restricts labels to allowed values (`--allow-metric-labels`), which bounds the cardinality of
//! client-controlled labels.

use std::collections::{BTreeMap, BTreeSet};

use prometheus::proto::{Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily};

/// The replacement of other values (upstream: `ConstrainToAllowedList`).
const UNEXPECTED: &str = "unexpected";

/// The allowed values, by metric and label.
pub(super) type Allowed = BTreeMap<(String, String), BTreeSet<String>>;

/// Replaces values that are not allowed, and merges series that then have equal labels.
pub(super) fn constrain(families: &mut [MetricFamily], allowed: &Allowed) {
    for ((metric, label), values) in allowed {
        let Some(family) = families.iter_mut().find(|family| family.name() == metric) else { continue };
        let mut sums: Vec<Metric> = Vec::new();
        for mut series in family.take_metric() {
            rename(series.mut_label(), label, values);
            match sums.iter_mut().find(|known| known.get_label() == series.get_label()) {
                Some(known) => add(known, &series),
                None => sums.push(series),
            }
        }
        family.set_metric(sums);
    }
}

fn rename(labels: &mut [LabelPair], label: &str, values: &BTreeSet<String>) {
    let unexpected = |pair: &&mut LabelPair| pair.name() == label && !values.contains(pair.value());
    labels.iter_mut().filter(unexpected).for_each(|pair| pair.set_value(UNEXPECTED.to_owned()));
}

/// Adds a series to another one of the same metric. Only one of the three kinds of values is set.
fn add(to: &mut Metric, series: &Metric) {
    let (mut counter, mut gauge) = (Counter::default(), Gauge::default());
    counter.set_value(to.get_counter().get_value() + series.get_counter().get_value());
    gauge.set_value(to.get_gauge().get_value() + series.get_gauge().get_value());
    let histogram = sum(to.get_histogram(), series.get_histogram());
    to.set_counter(counter);
    to.set_gauge(gauge);
    to.set_histogram(histogram);
}

fn sum(one: &Histogram, other: &Histogram) -> Histogram {
    let bucket = |(one, other): (&Bucket, &Bucket)| {
        let mut bucket = one.clone();
        bucket.set_cumulative_count(one.cumulative_count() + other.cumulative_count());
        bucket
    };
    let mut sum = Histogram::default();
    sum.set_sample_count(one.get_sample_count() + other.get_sample_count());
    sum.set_sample_sum(one.get_sample_sum() + other.get_sample_sum());
    sum.set_bucket(one.get_bucket().iter().zip(other.get_bucket()).map(bucket).collect());
    sum
}

#[cfg(test)]
mod tests {
    use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, Opts, Registry, TextEncoder};

    use super::*;

    #[test]
    fn merges_series_of_other_values() {
        let registry = Registry::new();
        let counter = IntCounterVec::new(Opts::new("requests_total", "Requests."), &["code", "verb"]).unwrap();
        let options = HistogramOpts::new("seconds", "Time.").buckets(vec![1.0]);
        let histogram = HistogramVec::new(options, &["verb"]).unwrap();
        registry.register(Box::new(counter.clone())).unwrap();
        registry.register(Box::new(histogram.clone())).unwrap();
        for (verb, times) in [("GET", 1), ("A", 2), ("B", 3)] {
            counter.with_label_values(&["200", verb]).inc_by(times);
            histogram.with_label_values(&[verb]).observe(times as f64 / 2.0);
        }
        let mut families = registry.gather();
        let of = |metric: &str| ((metric.to_owned(), "verb".to_owned()), BTreeSet::from(["GET".to_owned()]));
        constrain(&mut families, &Allowed::from([of("requests_total"), of("seconds"), of("missing")]));
        let text = TextEncoder::new().encode_to_string(&families).unwrap();
        for line in [
            "requests_total{code=\"200\",verb=\"GET\"} 1\n",
            "requests_total{code=\"200\",verb=\"unexpected\"} 5\n",
            "seconds_bucket{verb=\"unexpected\",le=\"1\"} 1\n",
            "seconds_count{verb=\"unexpected\"} 2\n",
            "seconds_sum{verb=\"unexpected\"} 2.5\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
    }
}
