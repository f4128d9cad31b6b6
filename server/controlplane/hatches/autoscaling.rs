//! Hand-written functions that definitions of `autoscaling` name.

#[path = "autoscaling/columns.rs"]
mod columns;

pub use columns::*;

pub fn default_horizontal_pod_autoscaler(_: &mut crate::autoscaling::v2::HorizontalPodAutoscaler) {}

pub fn normalize_horizontal_pod_autoscaler(_: &mut crate::autoscaling::v2::HorizontalPodAutoscaler) {}

pub fn v1_container_resource_metric_source_from_hub(_: &mut crate::autoscaling::v2::ContainerResourceMetricSource, _: &mut crate::autoscaling::v1::ContainerResourceMetricSource) {}

pub fn v1_container_resource_metric_source_to_hub(_: &mut crate::autoscaling::v1::ContainerResourceMetricSource, _: &mut crate::autoscaling::v2::ContainerResourceMetricSource) {}

pub fn v1_container_resource_metric_status_from_hub(_: &mut crate::autoscaling::v2::ContainerResourceMetricStatus, _: &mut crate::autoscaling::v1::ContainerResourceMetricStatus) {}

pub fn v1_container_resource_metric_status_to_hub(_: &mut crate::autoscaling::v1::ContainerResourceMetricStatus, _: &mut crate::autoscaling::v2::ContainerResourceMetricStatus) {}

pub fn v1_external_metric_source_from_hub(_: &mut crate::autoscaling::v2::ExternalMetricSource, _: &mut crate::autoscaling::v1::ExternalMetricSource) {}

pub fn v1_external_metric_source_to_hub(_: &mut crate::autoscaling::v1::ExternalMetricSource, _: &mut crate::autoscaling::v2::ExternalMetricSource) {}

pub fn v1_external_metric_status_from_hub(_: &mut crate::autoscaling::v2::ExternalMetricStatus, _: &mut crate::autoscaling::v1::ExternalMetricStatus) {}

pub fn v1_external_metric_status_to_hub(_: &mut crate::autoscaling::v1::ExternalMetricStatus, _: &mut crate::autoscaling::v2::ExternalMetricStatus) {}

pub fn v1_horizontal_pod_autoscaler_from_hub(_: &mut crate::autoscaling::v2::HorizontalPodAutoscaler, _: &mut crate::autoscaling::v1::HorizontalPodAutoscaler) {}

pub fn v1_horizontal_pod_autoscaler_to_hub(_: &mut crate::autoscaling::v1::HorizontalPodAutoscaler, _: &mut crate::autoscaling::v2::HorizontalPodAutoscaler) {}

pub fn v1_object_metric_source_from_hub(_: &mut crate::autoscaling::v2::ObjectMetricSource, _: &mut crate::autoscaling::v1::ObjectMetricSource) {}

pub fn v1_object_metric_source_to_hub(_: &mut crate::autoscaling::v1::ObjectMetricSource, _: &mut crate::autoscaling::v2::ObjectMetricSource) {}

pub fn v1_object_metric_status_from_hub(_: &mut crate::autoscaling::v2::ObjectMetricStatus, _: &mut crate::autoscaling::v1::ObjectMetricStatus) {}

pub fn v1_object_metric_status_to_hub(_: &mut crate::autoscaling::v1::ObjectMetricStatus, _: &mut crate::autoscaling::v2::ObjectMetricStatus) {}

pub fn v1_pods_metric_source_from_hub(_: &mut crate::autoscaling::v2::PodsMetricSource, _: &mut crate::autoscaling::v1::PodsMetricSource) {}

pub fn v1_pods_metric_source_to_hub(_: &mut crate::autoscaling::v1::PodsMetricSource, _: &mut crate::autoscaling::v2::PodsMetricSource) {}

pub fn v1_pods_metric_status_from_hub(_: &mut crate::autoscaling::v2::PodsMetricStatus, _: &mut crate::autoscaling::v1::PodsMetricStatus) {}

pub fn v1_pods_metric_status_to_hub(_: &mut crate::autoscaling::v1::PodsMetricStatus, _: &mut crate::autoscaling::v2::PodsMetricStatus) {}

pub fn v1_resource_metric_source_from_hub(_: &mut crate::autoscaling::v2::ResourceMetricSource, _: &mut crate::autoscaling::v1::ResourceMetricSource) {}

pub fn v1_resource_metric_source_to_hub(_: &mut crate::autoscaling::v1::ResourceMetricSource, _: &mut crate::autoscaling::v2::ResourceMetricSource) {}

pub fn v1_resource_metric_status_from_hub(_: &mut crate::autoscaling::v2::ResourceMetricStatus, _: &mut crate::autoscaling::v1::ResourceMetricStatus) {}

pub fn v1_resource_metric_status_to_hub(_: &mut crate::autoscaling::v1::ResourceMetricStatus, _: &mut crate::autoscaling::v2::ResourceMetricStatus) {}
