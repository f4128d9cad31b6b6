//! Resets metrics (`DELETE /metrics`; upstream: `routes.MetricsWithReset`).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use http::Method;
use prometheus::proto::{Bucket, Counter, Histogram, Metric, MetricFamily, MetricType};
use request::{Request, Response, respond};

/// The values of labelled counters and histograms at the last reset.
///
/// They are subtracted from later values, because other code holds references to the series.
#[derive(Default)]
pub struct Reset(Mutex<HashMap<Series, Metric>>);

/// A metric and the values of its labels, which are ordered.
type Series = (String, Vec<String>);

impl Reset {
    /// Handles a request that resets the metrics; for others, subtracts the values at the last
    /// reset.
    pub fn handle(&self, request: &Request, families: &mut Vec<MetricFamily>) -> Option<Response> {
        if is_reset_request(request) {
            self.set_baseline(families);
            return Some(done());
        }
        self.apply(families);
        None
    }

    /// Records the current values as the new baseline.
    fn set_baseline(&self, families: &[MetricFamily]) {
        let counted = families.iter().filter(|family| is_resettable(family.get_field_type())).flat_map(|family| {
            let labelled = family.get_metric().iter().filter(|series| !series.get_label().is_empty());
            labelled.map(|series| ((family.name().to_owned(), values(series)), series.clone()))
        });
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = counted.collect();
    }

    /// Subtracts the baseline. Series without changes since are removed.
    fn apply(&self, families: &mut Vec<MetricFamily>) {
        let before = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if before.is_empty() {
            return;
        }
        for family in families.iter_mut().filter(|family| is_resettable(family.get_field_type())) {
            let name = family.name().to_owned();
            let since = |series: Metric| match before.get(&(name.clone(), values(&series))) {
                Some(before) => since(&series, before),
                None => Some(series),
            };
            let series = family.take_metric().into_iter().filter_map(since).collect();
            family.set_metric(series);
        }
        families.retain(|family| !family.get_metric().is_empty());
    }
}

/// Whether a request resets the metrics of its path.
pub fn is_reset_request(request: &Request) -> bool {
    request.method() == Method::DELETE
}

/// The response to a reset.
pub fn done() -> Response {
    respond::bytes(200, respond::TEXT, "metrics reset\n")
}

fn values(series: &Metric) -> Vec<String> {
    series.get_label().iter().map(|label| label.value().to_owned()).collect()
}

fn is_resettable(kind: MetricType) -> bool {
    matches!(kind, MetricType::COUNTER | MetricType::HISTOGRAM)
}

/// The difference of a series to its baseline; `None` if there is none.
fn since(series: &Metric, before: &Metric) -> Option<Metric> {
    let (of_now, of_then) = (series.get_histogram(), before.get_histogram());
    let mut histogram = Histogram::default();
    histogram.set_sample_count(of_now.get_sample_count().saturating_sub(of_then.get_sample_count()));
    histogram.set_sample_sum(of_now.get_sample_sum() - of_then.get_sample_sum());
    let bucket = |(now, then): (&Bucket, &Bucket)| {
        let mut bucket = now.clone();
        bucket.set_cumulative_count(now.cumulative_count().saturating_sub(then.cumulative_count()));
        bucket
    };
    histogram.set_bucket(of_now.get_bucket().iter().zip(of_then.get_bucket()).map(bucket).collect());
    let mut counter = Counter::default();
    counter.set_value(series.get_counter().get_value() - before.get_counter().get_value());
    let is_new = histogram.get_sample_count() > 0 || counter.get_value() > 0.0;
    let mut since = series.clone();
    since.set_histogram(histogram);
    since.set_counter(counter);
    is_new.then_some(since)
}

#[cfg(test)]
mod tests {
    use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, Opts, Registry, TextEncoder};

    use super::*;

    #[test]
    fn subtracts_values_before_reset() {
        let registry = Registry::new();
        let counter = IntCounterVec::new(Opts::new("total", "help"), &["code"]).unwrap();
        let seconds = HistogramVec::new(HistogramOpts::new("seconds", "help").buckets(vec![1.0]), &["code"]).unwrap();
        registry.register(Box::new(counter.clone())).unwrap();
        registry.register(Box::new(seconds.clone())).unwrap();
        let held = counter.with_label_values(&["200"]);
        held.inc_by(5);
        counter.with_label_values(&["404"]).inc();
        seconds.with_label_values(&["200"]).observe(0.5);
        let reset = Reset::default();
        let text = || {
            let mut families = registry.gather();
            reset.apply(&mut families);
            TextEncoder::new().encode_to_string(&families).unwrap()
        };
        assert!(text().contains("total{code=\"200\"} 5"));
        reset.set_baseline(&registry.gather());
        assert_eq!(text(), "");
        held.inc();
        seconds.with_label_values(&["200"]).observe(2.0);
        let after = text();
        assert!(after.contains("total{code=\"200\"} 1\n") && !after.contains("404"), "{after}");
        assert!(after.contains("seconds_bucket{code=\"200\",le=\"1\"} 0\n"), "{after}");
        assert!(after.contains("seconds_count{code=\"200\"} 1\n"), "{after}");
    }
}
