//! Printed columns of `autoscaling` that are computed: the functions of `by_hand = ..` in its definitions.

use machinery::print::{Cell, PrintContext};
use machinery::scalar::Quantity;

use generated::autoscaling::v2::{
    HorizontalPodAutoscaler, MetricSpec, MetricStatus, MetricTarget, MetricValueStatus, metric_source_type,
};

const UNKNOWN: &str = "<unknown>";

/// Number of metrics to show; the others are only counted.
const SHOWN_METRICS: usize = 2;

pub fn horizontal_pod_autoscaler_min_pods(autoscaler: &HorizontalPodAutoscaler, _: &PrintContext) -> Cell {
    autoscaler.spec.min_replicas.map_or("<unset>".into(), |n| n.to_string().into())
}

pub fn horizontal_pod_autoscaler_reference(autoscaler: &HorizontalPodAutoscaler, _: &PrintContext) -> Cell {
    let target = &autoscaler.spec.scale_target_ref;
    format!("{}/{}", target.kind, target.name).into()
}

pub fn horizontal_pod_autoscaler_targets(autoscaler: &HorizontalPodAutoscaler, _: &PrintContext) -> Cell {
    let metrics = &autoscaler.spec.metrics;
    if metrics.is_empty() {
        return "<none>".into();
    }
    let status = |index: usize| autoscaler.status.current_metrics.get(index);
    let shown: Vec<String> = metrics
        .iter()
        .take(SHOWN_METRICS)
        .enumerate()
        .map(|(index, metric)| metric_text(metric, status(index)))
        .collect();
    let text = shown.join(", ");
    match metrics.len().saturating_sub(SHOWN_METRICS) {
        0 => text.into(),
        more => format!("{text} + {more} more...").into(),
    }
}

/// `current/target` of a metric; a status entry has the same index as its metric.
fn metric_text(metric: &MetricSpec, status: Option<&MetricStatus>) -> String {
    match metric.r#type.as_str() {
        metric_source_type::EXTERNAL => metric
            .external
            .as_ref()
            .map(|m| value_text(&m.target, status.and_then(|s| s.external.as_ref()).map(|s| &s.current))),
        metric_source_type::OBJECT => metric
            .object
            .as_ref()
            .map(|m| value_text(&m.target, status.and_then(|s| s.object.as_ref()).map(|s| &s.current))),
        metric_source_type::PODS => metric
            .pods
            .as_ref()
            .map(|m| average_text(&m.target, status.and_then(|s| s.pods.as_ref()).map(|s| &s.current))),
        metric_source_type::RESOURCE => metric
            .resource
            .as_ref()
            .map(|m| resource_text(&m.name, &m.target, status.and_then(|s| s.resource.as_ref()).map(|s| &s.current))),
        metric_source_type::CONTAINER_RESOURCE => metric.container_resource.as_ref().map(|m| {
            resource_text(&m.name, &m.target, status.and_then(|s| s.container_resource.as_ref()).map(|s| &s.current))
        }),
        _ => None,
    }
    .unwrap_or_else(|| "<unknown type>".into())
}

/// Text of metrics with a target value in total, or an average per pod.
fn value_text(target: &MetricTarget, current: Option<&MetricValueStatus>) -> String {
    if target.average_value.is_some() {
        return format!("{} (avg)", average_text(target, current));
    }
    let current = current.map_or(UNKNOWN.into(), |c| quantity(c.value.as_ref()));
    format!("{current}/{}", quantity(target.value.as_ref()))
}

fn average_text(target: &MetricTarget, current: Option<&MetricValueStatus>) -> String {
    let current = current.and_then(|c| c.average_value.as_ref()).map_or(UNKNOWN.into(), ToString::to_string);
    format!("{current}/{}", quantity(target.average_value.as_ref()))
}

fn resource_text(name: &str, target: &MetricTarget, current: Option<&MetricValueStatus>) -> String {
    if target.average_value.is_some() {
        return format!("{name}: {}", average_text(target, current));
    }
    let percent = |utilization: Option<i32>, instead: &str| utilization.map_or(instead.into(), |n| format!("{n}%"));
    let current = percent(current.and_then(|c| c.average_utilization), UNKNOWN);
    format!("{name}: {current}/{}", percent(target.average_utilization, "<auto>"))
}

/// A quantity; an absent one is printed as Go's nil.
fn quantity(value: Option<&Quantity>) -> String {
    value.map_or("<nil>".into(), ToString::to_string)
}
