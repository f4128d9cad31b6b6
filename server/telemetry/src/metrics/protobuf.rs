//! Encodes metrics as length-delimited messages of `io.prometheus.client`.
//!
//! Prometheus requests this format when native histograms are enabled.

use prometheus::proto::{Histogram, Metric, MetricFamily, MetricType, Summary};

/// Wire types.
const VARINT: u8 = 0;
const FIXED64: u8 = 1;
const BYTES: u8 = 2;

/// The concatenated messages of the families.
pub(super) fn encode(families: &[MetricFamily]) -> Vec<u8> {
    let mut out = Vec::new();
    for family in families {
        let mut message = Vec::new();
        bytes(1, family.name().as_bytes(), &mut message);
        bytes(2, family.help().as_bytes(), &mut message);
        number(3, kind(family.get_field_type()), &mut message);
        for series in family.get_metric() {
            bytes(4, &metric(series, family.get_field_type()), &mut message);
        }
        varint(message.len() as u64, &mut out);
        out.extend(message);
    }
    out
}

fn kind(of: MetricType) -> u64 {
    match of {
        MetricType::COUNTER => 0,
        MetricType::GAUGE => 1,
        MetricType::SUMMARY => 2,
        MetricType::UNTYPED => 3,
        MetricType::HISTOGRAM => 4,
    }
}

fn metric(series: &Metric, of: MetricType) -> Vec<u8> {
    let mut out = Vec::new();
    for label in series.get_label() {
        let mut pair = Vec::new();
        bytes(1, label.name().as_bytes(), &mut pair);
        bytes(2, label.value().as_bytes(), &mut pair);
        bytes(1, &pair, &mut out);
    }
    let value = |value: f64| {
        let mut message = Vec::new();
        double(1, value, &mut message);
        message
    };
    match of {
        MetricType::COUNTER => bytes(3, &value(series.get_counter().get_value()), &mut out),
        MetricType::HISTOGRAM => bytes(7, &histogram(series.get_histogram()), &mut out),
        MetricType::SUMMARY => bytes(4, &summary(series.get_summary()), &mut out),
        // Untyped metrics are not used.
        _ => bytes(2, &value(series.get_gauge().get_value()), &mut out),
    }
    out
}

/// Quantiles are not collected.
fn summary(summary: &Summary) -> Vec<u8> {
    let mut out = Vec::new();
    number(1, summary.sample_count(), &mut out);
    double(2, summary.sample_sum(), &mut out);
    out
}

fn histogram(histogram: &Histogram) -> Vec<u8> {
    let mut out = Vec::new();
    number(1, histogram.get_sample_count(), &mut out);
    double(2, histogram.get_sample_sum(), &mut out);
    for bucket in histogram.get_bucket() {
        let mut message = Vec::new();
        number(1, bucket.cumulative_count(), &mut message);
        double(2, bucket.upper_bound(), &mut message);
        bytes(3, &message, &mut out);
    }
    out
}

fn number(field: u8, value: u64, out: &mut Vec<u8>) {
    out.push(field << 3 | VARINT);
    varint(value, out);
}

fn double(field: u8, value: f64, out: &mut Vec<u8>) {
    out.push(field << 3 | FIXED64);
    out.extend(value.to_le_bytes());
}

fn bytes(field: u8, value: &[u8], out: &mut Vec<u8>) {
    out.push(field << 3 | BYTES);
    varint(value.len() as u64, out);
    out.extend(value);
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value > 0x7f {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use prometheus::{HistogramOpts, HistogramVec, IntCounter, Registry};

    use super::*;

    #[test]
    fn encodes_families_as_messages() {
        let registry = Registry::new();
        let counter = IntCounter::new("a", "b").unwrap();
        counter.inc_by(2);
        registry.register(Box::new(counter)).unwrap();
        let two = 2f64.to_le_bytes();
        let expect = [&b"\x15\x0a\x01a\x12\x01b\x18\x00\x22\x0b\x1a\x09\x09"[..], &two].concat();
        assert_eq!(encode(&registry.gather()), expect);

        let registry = Registry::new();
        let seconds = HistogramVec::new(HistogramOpts::new("h", "b").buckets(vec![2.0]), &["l"]).unwrap();
        seconds.with_label_values(&["v"]).observe(2.0);
        registry.register(Box::new(seconds)).unwrap();
        let bucket = [&b"\x1a\x0b\x08\x01\x11"[..], &two].concat();
        let histogram = [&b"\x08\x01\x11"[..], &two, &bucket].concat();
        let label = b"\x0a\x06\x0a\x01l\x12\x01v";
        let metric = [&label[..], &[0x3a, histogram.len() as u8], &histogram].concat();
        let family = [&b"\x0a\x01h\x12\x01b\x18\x04\x22"[..], &[metric.len() as u8], &metric].concat();
        assert_eq!(encode(&registry.gather()), [&[family.len() as u8][..], &family].concat());
    }
}
