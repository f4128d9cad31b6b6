//! The text format of metrics, with upstream's number format.
//!
//! Bucket bounds (`le="1e+06"`) are part of the series. Series thus keep their identity when a
//! cluster moves between the servers.

use std::fmt::Write;

use prometheus::proto::{LabelPair, Metric, MetricFamily, MetricType};

/// The exponents of numbers in plain notation (`strconv.FormatFloat` with format `g`).
const PLAIN: std::ops::Range<i32> = -4..6;

/// Formats the families.
pub(super) fn encode(families: &[MetricFamily]) -> String {
    let mut out = String::new();
    for family in families.iter().filter(|family| !family.get_metric().is_empty()) {
        let (name, kind) = (family.name(), family.get_field_type());
        let help = family.help().replace('\\', "\\\\").replace('\n', "\\n");
        // Writing to a string cannot fail.
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {}", type_name(kind));
        for metric in family.get_metric() {
            series(&mut out, name, kind, metric);
        }
    }
    out
}

fn type_name(kind: MetricType) -> &'static str {
    match kind {
        MetricType::COUNTER => "counter",
        MetricType::GAUGE => "gauge",
        MetricType::SUMMARY => "summary",
        MetricType::HISTOGRAM => "histogram",
        MetricType::UNTYPED => "untyped",
    }
}

fn series(out: &mut String, name: &str, kind: MetricType, metric: &Metric) {
    let labels = metric.get_label();
    let mut line = |suffix: &str, extra: Option<(&str, f64)>, value: f64| {
        out.push_str(name);
        out.push_str(suffix);
        write_labels(out, labels, extra);
        out.push(' ');
        number(out, value);
        out.push('\n');
    };
    match kind {
        MetricType::COUNTER => line("", None, metric.get_counter().get_value()),
        MetricType::HISTOGRAM => {
            let histogram = metric.get_histogram();
            let total = histogram.get_sample_count() as f64;
            for bucket in histogram.get_bucket().iter().filter(|bucket| bucket.upper_bound().is_finite()) {
                line("_bucket", Some(("le", bucket.upper_bound())), bucket.cumulative_count() as f64);
            }
            line("_bucket", Some(("le", f64::INFINITY)), total);
            line("_sum", None, histogram.get_sample_sum());
            line("_count", None, total);
        }
        MetricType::SUMMARY => {
            let summary = metric.get_summary();
            line("_sum", None, summary.sample_sum());
            line("_count", None, summary.sample_count() as f64);
        }
        MetricType::GAUGE | MetricType::UNTYPED => line("", None, metric.get_gauge().get_value()),
    }
}

fn write_labels(out: &mut String, labels: &[LabelPair], extra: Option<(&str, f64)>) {
    if labels.is_empty() && extra.is_none() {
        return;
    }
    let mut separator = '{';
    for label in labels {
        out.push(separator);
        out.push_str(label.name());
        out.push_str("=\"");
        for character in label.value().chars() {
            match character {
                '\\' => out.push_str("\\\\"),
                '"' => out.push_str("\\\""),
                '\n' => out.push_str("\\n"),
                other => out.push(other),
            }
        }
        out.push('"');
        separator = ',';
    }
    if let Some((name, value)) = extra {
        out.push(separator);
        out.push_str(name);
        out.push_str("=\"");
        number(out, value);
        out.push('"');
    }
    out.push('}');
}

/// Writes the shortest decimal form that parses to the same number.
fn number(out: &mut String, value: f64) {
    if value.is_nan() {
        return out.push_str("NaN");
    }
    if value.is_infinite() {
        return out.push_str(if value > 0.0 { "+Inf" } else { "-Inf" });
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if PLAIN.contains(&exponent) {
        let _ = write!(out, "{value}");
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(out, "{digits}e{sign}{:02}", exponent.abs());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus::{HistogramOpts, HistogramVec, Registry};

    #[test]
    fn number_format_is_upstreams() {
        for (value, expect) in [
            (0.0, "0"),
            (2766.0, "2766"),
            (100_000.0, "100000"),
            (1e6, "1e+06"),
            (2_450_000.0, "2.45e+06"),
            (305_229_824.0, "3.05229824e+08"),
            (0.000_123, "0.000123"),
            (1e-5, "1e-05"),
            (5e-7, "5e-07"),
            (9.999999999999999e-5, "9.999999999999999e-05"),
            (u64::MAX as f64, "1.8446744073709552e+19"),
            (f64::NEG_INFINITY, "-Inf"),
            (f64::NAN, "NaN"),
        ] {
            let mut out = String::new();
            number(&mut out, value);
            assert_eq!(out, expect);
        }
    }

    #[test]
    fn formats_families() {
        let registry = Registry::new();
        let seconds = HistogramVec::new(HistogramOpts::new("h", "a\nb").buckets(vec![1e6]), &["l"]).unwrap();
        seconds.with_label_values(&["\"\n\\"]).observe(2.5);
        registry.register(Box::new(seconds)).unwrap();
        let label = r#"l="\"\n\\""#;
        let expect = format!(
            "# HELP h a\\nb\n# TYPE h histogram\nh_bucket{{{label},le=\"1e+06\"}} 1\nh_bucket{{{label},le=\"+Inf\"}} 1\n\
             h_sum{{{label}}} 2.5\nh_count{{{label}}} 1\n"
        );
        assert_eq!(encode(&registry.gather()), expect);
    }
}
