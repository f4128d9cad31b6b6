//! Printed columns and selectable fields of `core` that take more than a path: the functions its definitions name with `by_hand`.

pub fn component_status_error(_: &crate::core::v1::ComponentStatus, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn component_status_message(_: &crate::core::v1::ComponentStatus, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn component_status_status(_: &crate::core::v1::ComponentStatus, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn config_map_data(_: &crate::core::v1::ConfigMap, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

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
