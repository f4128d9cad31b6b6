//! Conversion between the flat metrics of autoscaling/v1, which annotations contain, and the structured
//! ones of v2.

use machinery::scalar::Quantity;

use generated::autoscaling::conversions::{
    v1_cross_version_object_reference_from_hub, v1_cross_version_object_reference_to_hub,
};
use generated::autoscaling::v1;
use generated::autoscaling::v2::{
    ContainerResourceMetricSource, ContainerResourceMetricStatus, ExternalMetricSource, ExternalMetricStatus,
    MetricIdentifier, MetricTarget, MetricValueStatus, ObjectMetricSource, ObjectMetricStatus, PodsMetricSource,
    PodsMetricStatus, ResourceMetricSource, ResourceMetricStatus, metric_target_type,
};
use generated::meta::v1::LabelSelector;

fn identifier(name: &mut String, selector: &mut Option<Box<LabelSelector>>) -> MetricIdentifier {
    MetricIdentifier { name: std::mem::take(name), selector: selector.take() }
}

fn target(kind: &str, value: Option<Quantity>, average_value: Option<Quantity>) -> MetricTarget {
    MetricTarget { r#type: kind.to_owned(), value, average_value, average_utilization: None }
}

fn resource_target(utilization: Option<i32>, average_value: Option<Quantity>) -> MetricTarget {
    let kind = if utilization.is_some() { metric_target_type::UTILIZATION } else { metric_target_type::AVERAGE_VALUE };
    MetricTarget { average_utilization: utilization, ..target(kind, None, average_value) }
}

/// Flat to structured.
pub fn v1_object_metric_source_to_hub(from: &mut v1::ObjectMetricSource, to: &mut ObjectMetricSource) {
    let average = from.average_value.take();
    let kind = if average.is_some() { metric_target_type::AVERAGE_VALUE } else { metric_target_type::VALUE };
    to.target = target(kind, Some(std::mem::take(&mut from.target_value)), average);
    to.described_object = v1_cross_version_object_reference_to_hub(&mut from.target);
    to.metric = identifier(&mut from.metric_name, &mut from.selector);
}

/// Structured to flat.
pub fn v1_object_metric_source_from_hub(from: &mut ObjectMetricSource, to: &mut v1::ObjectMetricSource) {
    to.target_value = from.target.value.take().unwrap_or_default();
    to.average_value = from.target.average_value.take();
    to.target = v1_cross_version_object_reference_from_hub(&mut from.described_object);
    to.metric_name = std::mem::take(&mut from.metric.name);
    to.selector = from.metric.selector.take();
}

/// Flat to structured.
pub fn v1_pods_metric_source_to_hub(from: &mut v1::PodsMetricSource, to: &mut PodsMetricSource) {
    to.target = target(metric_target_type::AVERAGE_VALUE, None, Some(std::mem::take(&mut from.target_average_value)));
    to.metric = identifier(&mut from.metric_name, &mut from.selector);
}

/// Structured to flat.
pub fn v1_pods_metric_source_from_hub(from: &mut PodsMetricSource, to: &mut v1::PodsMetricSource) {
    to.target_average_value = from.target.average_value.take().unwrap_or_default();
    to.metric_name = std::mem::take(&mut from.metric.name);
    to.selector = from.metric.selector.take();
}

/// Flat to structured.
pub fn v1_resource_metric_source_to_hub(from: &mut v1::ResourceMetricSource, to: &mut ResourceMetricSource) {
    to.target = resource_target(from.target_average_utilization, from.target_average_value.take());
}

/// Structured to flat.
pub fn v1_resource_metric_source_from_hub(from: &mut ResourceMetricSource, to: &mut v1::ResourceMetricSource) {
    to.target_average_utilization = from.target.average_utilization;
    to.target_average_value = from.target.average_value.take();
}

/// Flat to structured.
pub fn v1_container_resource_metric_source_to_hub(
    from: &mut v1::ContainerResourceMetricSource,
    to: &mut ContainerResourceMetricSource,
) {
    to.target = resource_target(from.target_average_utilization, from.target_average_value.take());
}

/// Structured to flat.
pub fn v1_container_resource_metric_source_from_hub(
    from: &mut ContainerResourceMetricSource,
    to: &mut v1::ContainerResourceMetricSource,
) {
    to.target_average_utilization = from.target.average_utilization;
    to.target_average_value = from.target.average_value.take();
}

/// Flat to structured.
pub fn v1_external_metric_source_to_hub(from: &mut v1::ExternalMetricSource, to: &mut ExternalMetricSource) {
    let value = from.target_value.take();
    let kind = if value.is_some() { metric_target_type::VALUE } else { metric_target_type::AVERAGE_VALUE };
    to.target = target(kind, value, from.target_average_value.take());
    to.metric = identifier(&mut from.metric_name, &mut from.metric_selector);
}

/// Structured to flat.
pub fn v1_external_metric_source_from_hub(from: &mut ExternalMetricSource, to: &mut v1::ExternalMetricSource) {
    to.target_value = from.target.value.take();
    to.target_average_value = from.target.average_value.take();
    to.metric_name = std::mem::take(&mut from.metric.name);
    to.metric_selector = from.metric.selector.take();
}

/// Flat to structured.
pub fn v1_object_metric_status_to_hub(from: &mut v1::ObjectMetricStatus, to: &mut ObjectMetricStatus) {
    let (value, average_value) = (Some(std::mem::take(&mut from.current_value)), from.average_value.take());
    to.current = MetricValueStatus { value, average_value, ..Default::default() };
    to.described_object = v1_cross_version_object_reference_to_hub(&mut from.target);
    to.metric = identifier(&mut from.metric_name, &mut from.selector);
}

/// Structured to flat.
pub fn v1_object_metric_status_from_hub(from: &mut ObjectMetricStatus, to: &mut v1::ObjectMetricStatus) {
    to.current_value = from.current.value.take().unwrap_or_default();
    to.average_value = from.current.average_value.take();
    to.target = v1_cross_version_object_reference_from_hub(&mut from.described_object);
    to.metric_name = std::mem::take(&mut from.metric.name);
    to.selector = from.metric.selector.take();
}

/// Flat to structured.
pub fn v1_pods_metric_status_to_hub(from: &mut v1::PodsMetricStatus, to: &mut PodsMetricStatus) {
    to.current = resource_status(None, &mut from.current_average_value);
    to.metric = identifier(&mut from.metric_name, &mut from.selector);
}

/// Structured to flat.
pub fn v1_pods_metric_status_from_hub(from: &mut PodsMetricStatus, to: &mut v1::PodsMetricStatus) {
    to.current_average_value = from.current.average_value.take().unwrap_or_default();
    to.metric_name = std::mem::take(&mut from.metric.name);
    to.selector = from.metric.selector.take();
}

fn resource_status(average_utilization: Option<i32>, average_value: &mut Quantity) -> MetricValueStatus {
    MetricValueStatus { value: None, average_value: Some(std::mem::take(average_value)), average_utilization }
}

/// Flat to structured.
pub fn v1_resource_metric_status_to_hub(from: &mut v1::ResourceMetricStatus, to: &mut ResourceMetricStatus) {
    to.current = resource_status(from.current_average_utilization, &mut from.current_average_value);
}

/// Structured to flat.
pub fn v1_resource_metric_status_from_hub(from: &mut ResourceMetricStatus, to: &mut v1::ResourceMetricStatus) {
    to.current_average_utilization = from.current.average_utilization;
    to.current_average_value = from.current.average_value.take().unwrap_or_default();
}

/// Flat to structured.
pub fn v1_container_resource_metric_status_to_hub(
    from: &mut v1::ContainerResourceMetricStatus,
    to: &mut ContainerResourceMetricStatus,
) {
    to.current = resource_status(from.current_average_utilization, &mut from.current_average_value);
}

/// Structured to flat.
pub fn v1_container_resource_metric_status_from_hub(
    from: &mut ContainerResourceMetricStatus,
    to: &mut v1::ContainerResourceMetricStatus,
) {
    to.current_average_utilization = from.current.average_utilization;
    to.current_average_value = from.current.average_value.take().unwrap_or_default();
}

/// Flat to structured.
pub fn v1_external_metric_status_to_hub(from: &mut v1::ExternalMetricStatus, to: &mut ExternalMetricStatus) {
    let (value, average_value) = (Some(std::mem::take(&mut from.current_value)), from.current_average_value.take());
    to.current = MetricValueStatus { value, average_value, ..Default::default() };
    to.metric = identifier(&mut from.metric_name, &mut from.metric_selector);
}

/// Structured to flat.
pub fn v1_external_metric_status_from_hub(from: &mut ExternalMetricStatus, to: &mut v1::ExternalMetricStatus) {
    to.current_value = from.current.value.take().unwrap_or_default();
    to.current_average_value = from.current.average_value.take();
    to.metric_name = std::mem::take(&mut from.metric.name);
    to.metric_selector = from.metric.selector.take();
}
