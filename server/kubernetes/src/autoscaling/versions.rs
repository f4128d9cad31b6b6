//! Conversion of horizontal pod autoscalers between autoscaling/v1 and v2 (upstream
//! `pkg/apis/autoscaling/v1/conversion.go`).

use super::annotations::{self, BEHAVIOR, CONDITIONS, CURRENT_METRICS, METRICS, read_list, write_list};
use super::behavior;
use generated::autoscaling::conversions::{
    v1_metric_spec_from_hub, v1_metric_spec_to_hub, v1_metric_status_from_hub, v1_metric_status_to_hub,
};
use generated::autoscaling::v1;
use generated::autoscaling::v2::{
    HorizontalPodAutoscaler, MetricSpec, MetricStatus, MetricTarget, MetricValueStatus, ResourceMetricSource,
    ResourceMetricStatus, metric_source_type, metric_target_type,
};
use generated::core::v1::resource_name;

const CPU: &str = resource_name::CPU;

/// Default target in percent of the requested CPU (`DefaultCPUUtilization`).
const CPU_UTILIZATION: i32 = 80;

/// Removes annotations that correspond to fields.
pub fn normalize_horizontal_pod_autoscaler(autoscaler: &mut HorizontalPodAutoscaler) {
    annotations::remove(&mut autoscaler.metadata.annotations);
}

/// Converts fields and annotations of v1 to metrics, conditions and behavior. An autoscaler without a
/// metric gets one for CPU.
pub fn v1_horizontal_pod_autoscaler_to_hub(from: &mut v1::HorizontalPodAutoscaler, to: &mut HorizontalPodAutoscaler) {
    let annotations = &mut to.metadata.annotations;
    let (spec, status) = (&mut to.spec, &mut to.status);
    let metrics = read_list::<v1::MetricSpec>(annotations, METRICS).unwrap_or_default();
    spec.metrics = metrics.into_iter().map(|mut metric| v1_metric_spec_to_hub(&mut metric)).collect();
    spec.metrics.extend(from.spec.target_cpu_utilization_percentage.map(cpu_target));
    if spec.metrics.is_empty() {
        spec.metrics.push(cpu_target(CPU_UTILIZATION));
    }
    spec.behavior = annotations.get(BEHAVIOR).and_then(|text| behavior::read(text)).map(Box::new);
    status.current_metrics = match read_list::<v1::MetricStatus>(annotations, CURRENT_METRICS) {
        Some(metrics) => metrics.into_iter().map(|mut metric| v1_metric_status_to_hub(&mut metric)).collect(),
        None => from.status.current_cpu_utilization_percentage.map(cpu_status).into_iter().collect(),
    };
    status.conditions = read_list(annotations, CONDITIONS).unwrap_or_default();
    annotations::remove(annotations);
}

fn cpu_target(utilization: i32) -> MetricSpec {
    let target = MetricTarget {
        r#type: metric_target_type::UTILIZATION.to_owned(),
        average_utilization: Some(utilization),
        ..Default::default()
    };
    MetricSpec {
        r#type: metric_source_type::RESOURCE.to_owned(),
        resource: Some(Box::new(ResourceMetricSource { name: CPU.to_owned(), target })),
        ..Default::default()
    }
}

fn cpu_status(utilization: i32) -> MetricStatus {
    let current = MetricValueStatus { average_utilization: Some(utilization), ..Default::default() };
    MetricStatus {
        r#type: metric_source_type::RESOURCE.to_owned(),
        resource: Some(Box::new(ResourceMetricStatus { name: CPU.to_owned(), current })),
        ..Default::default()
    }
}

/// Converts the first CPU metric to the field of v1; writes everything that v1 has no fields for to
/// annotations.
pub fn v1_horizontal_pod_autoscaler_from_hub(from: &mut HorizontalPodAutoscaler, to: &mut v1::HorizontalPodAutoscaler) {
    let annotations = &mut to.metadata.annotations;
    annotations::remove(annotations);
    let metrics = std::mem::take(&mut from.spec.metrics);
    let first = metrics.iter().find_map(cpu_source);
    to.spec.target_cpu_utilization_percentage = first.and_then(|source| source.target.average_utilization);
    let is_field =
        |metric: &MetricSpec| cpu_source(metric).is_some_and(|source| source.target.average_utilization.is_some());
    let others = metrics.into_iter().filter(|metric| !is_field(metric));
    let others: Vec<_> = others.map(|mut metric| v1_metric_spec_from_hub(&mut metric)).collect();
    write_list(annotations, METRICS, &others);
    // Includes the CPU utilization, because the field has no place for the raw value.
    let mut current = std::mem::take(&mut from.status.current_metrics);
    to.status.current_cpu_utilization_percentage = current.iter().rev().find_map(cpu_utilization);
    let current: Vec<_> = current.iter_mut().map(v1_metric_status_from_hub).collect();
    write_list(annotations, CURRENT_METRICS, &current);
    write_list(annotations, CONDITIONS, &from.status.conditions);
    if let Some(behavior) = from.spec.behavior.take() {
        annotations.insert(BEHAVIOR.to_owned(), behavior::write(&behavior));
    }
}

fn cpu_source(metric: &MetricSpec) -> Option<&ResourceMetricSource> {
    let is_resource = metric.r#type == metric_source_type::RESOURCE;
    metric.resource.as_deref().filter(|source| is_resource && source.name == CPU)
}

fn cpu_utilization(metric: &MetricStatus) -> Option<i32> {
    let is_resource = metric.r#type == metric_source_type::RESOURCE;
    let status = metric.resource.as_deref().filter(|status| is_resource && status.name == CPU)?;
    status.current.average_utilization
}
