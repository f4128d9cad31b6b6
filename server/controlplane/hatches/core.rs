//! Hand-written functions that definitions of `core` name.

pub fn component_status_error(_: &crate::core::v1::ComponentStatus, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn component_status_message(_: &crate::core::v1::ComponentStatus, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn component_status_status(_: &crate::core::v1::ComponentStatus, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn config_map_data(_: &crate::core::v1::ConfigMap, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
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
pub fn endpoints_endpoints(_: &crate::core::v1::Endpoints, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn event_count(_: &crate::core::v1::Event, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn event_first_seen(_: &crate::core::v1::Event, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn event_last_seen(_: &crate::core::v1::Event, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn event_message(_: &crate::core::v1::Event, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn event_object(_: &crate::core::v1::Event, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn event_source(_: &crate::core::v1::Event, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn event_source_label(_: &crate::core::v1::Event) -> String { String::new() }
pub fn node_external_ip(_: &crate::core::v1::Node, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn node_internal_ip(_: &crate::core::v1::Node, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn node_kernel_version(_: &crate::core::v1::Node, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn node_roles(_: &crate::core::v1::Node, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn node_status(_: &crate::core::v1::Node, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn normalize_node_spec(_: &mut crate::core::v1::NodeSpec) {}
pub fn normalize_pod(_: &mut crate::core::v1::Pod) {}
pub fn normalize_pod_spec(_: &mut crate::core::v1::PodSpec) {}
pub fn normalize_pod_status(_: &mut crate::core::v1::PodStatus) {}
pub fn normalize_pod_template_spec(_: &mut crate::core::v1::PodTemplateSpec) {}
pub fn normalize_secret(_: &mut crate::core::v1::Secret) {}
pub fn persistent_volume_access_modes(_: &crate::core::v1::PersistentVolume, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn persistent_volume_claim(_: &crate::core::v1::PersistentVolume, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn persistent_volume_claim_access_modes(_: &crate::core::v1::PersistentVolumeClaim, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn persistent_volume_claim_capacity(_: &crate::core::v1::PersistentVolumeClaim, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn persistent_volume_claim_status(_: &crate::core::v1::PersistentVolumeClaim, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn persistent_volume_claim_storage_class(_: &crate::core::v1::PersistentVolumeClaim, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn persistent_volume_status(_: &crate::core::v1::PersistentVolume, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn persistent_volume_storage_class(_: &crate::core::v1::PersistentVolume, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn pod_ips_label(_: &crate::core::v1::Pod) -> String { String::new() }
pub fn pod_readiness_gates(_: &crate::core::v1::Pod, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn pod_ready(_: &crate::core::v1::Pod, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn pod_restarts(_: &crate::core::v1::Pod, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn pod_status(_: &crate::core::v1::Pod, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn resource_quota_limit(_: &crate::core::v1::ResourceQuota, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn resource_quota_request(_: &crate::core::v1::ResourceQuota, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn service_cluster_ip(_: &crate::core::v1::Service, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn service_external_ip(_: &crate::core::v1::Service, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn service_ports(_: &crate::core::v1::Service, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
