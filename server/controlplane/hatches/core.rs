//! Hand-written functions that definitions of `core` name.

#[path = "core/columns.rs"]
mod columns;

pub use columns::*;

pub fn default_container(_: &mut crate::core::v1::Container) {}

pub fn default_container_status(_: &mut crate::core::v1::ContainerStatus) {}

pub fn default_ephemeral_container(_: &mut crate::core::v1::EphemeralContainer) {}

pub fn default_limit_range_item(_: &mut crate::core::v1::LimitRangeItem) {}

pub fn default_namespace(_: &mut crate::core::v1::Namespace) {}

pub fn default_node_status(_: &mut crate::core::v1::NodeStatus) {}

pub fn default_persistent_volume_claim_status(_: &mut crate::core::v1::PersistentVolumeClaimStatus) {}

pub fn default_persistent_volume_spec(_: &mut crate::core::v1::PersistentVolumeSpec) {}

pub fn default_pod(_: &mut crate::core::v1::Pod) {}

pub fn default_pod_log_options(_: &mut crate::core::v1::PodLogOptions) {}

pub fn default_pod_spec(_: &mut crate::core::v1::PodSpec) {}

pub fn default_pod_status(_: &mut crate::core::v1::PodStatus) {}

pub fn default_replication_controller(_: &mut crate::core::v1::ReplicationController) {}

pub fn default_resource_quota_spec(_: &mut crate::core::v1::ResourceQuotaSpec) {}

pub fn default_resource_quota_status(_: &mut crate::core::v1::ResourceQuotaStatus) {}

pub fn default_resource_requirements(_: &mut crate::core::v1::ResourceRequirements) {}

pub fn default_service(_: &mut crate::core::v1::Service) {}

pub fn default_volume(_: &mut crate::core::v1::Volume) {}

pub fn default_volume_resource_requirements(_: &mut crate::core::v1::VolumeResourceRequirements) {}

pub fn normalize_node_spec(_: &mut crate::core::v1::NodeSpec) {}

pub fn normalize_pod(_: &mut crate::core::v1::Pod) {}

pub fn normalize_pod_spec(_: &mut crate::core::v1::PodSpec) {}

pub fn normalize_pod_status(_: &mut crate::core::v1::PodStatus) {}

pub fn normalize_pod_template_spec(_: &mut crate::core::v1::PodTemplateSpec) {}

pub fn normalize_secret(_: &mut crate::core::v1::Secret) {}
