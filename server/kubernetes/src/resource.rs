//! Hand-written functions that definitions of `resource` refer to (dynamic resource allocation).

use std::time::{SystemTime, UNIX_EPOCH};

use machinery::scalar::Time;

use generated::resource::v1::{
    Device, DeviceRequest, DeviceSubRequest, DeviceTaint, ExactDeviceRequest, ResourceSliceSpec, device_allocation_mode,
};
use generated::resource::v1beta1;

mod columns;
mod strategy;
mod validation;

pub use columns::*;
pub use strategy::*;
pub use validation::*;

fn default_count(allocation_mode: &str, count: &mut i64) {
    if allocation_mode == device_allocation_mode::EXACT_COUNT && *count == 0 {
        *count = 1;
    }
}

/// Mirrors `SetDefaults_DeviceSubRequest`.
pub fn default_device_sub_request(request: &mut DeviceSubRequest) {
    default_count(&request.allocation_mode, &mut request.count);
}

/// Mirrors `SetDefaults_DeviceTaint`: sets the time of a taint without one to now.
pub fn default_device_taint(taint: &mut DeviceTaint) {
    taint.time_added.get_or_insert_with(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Time::from_unix(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
    });
}

/// Mirrors `SetDefaults_ExactDeviceRequest`.
pub fn default_exact_device_request(request: &mut ExactDeviceRequest) {
    default_count(&request.allocation_mode, &mut request.count);
}

/// Mirrors `SetDefaults_DeviceRequest` of v1beta1: only requests for a single class have an allocation
/// mode.
pub fn default_v1beta1_device_request(request: &mut v1beta1::DeviceRequest) {
    if !request.device_class_name.is_empty() {
        if request.allocation_mode.is_empty() {
            request.allocation_mode = device_allocation_mode::EXACT_COUNT.to_owned();
        }
        default_count(&request.allocation_mode, &mut request.count);
    }
}

/// Mirrors `SetDefaults_DeviceSubRequest` of v1beta1.
pub fn default_v1beta1_device_sub_request(request: &mut v1beta1::DeviceSubRequest) {
    default_count(&request.allocation_mode, &mut request.count);
}

/// Converts the flat fields to `exactly` if any of them is set.
pub fn v1beta1_device_request_to_hub(from: &mut v1beta1::DeviceRequest, to: &mut DeviceRequest) {
    let named = !from.device_class_name.is_empty() || !from.allocation_mode.is_empty() || from.count != 0;
    let refined = !from.selectors.is_empty() || !from.tolerations.is_empty();
    if named || refined || from.admin_access.is_some() || from.capacity.is_some() {
        to.exactly = Some(Box::new(ExactDeviceRequest {
            device_class_name: std::mem::take(&mut from.device_class_name),
            selectors: std::mem::take(&mut from.selectors),
            allocation_mode: std::mem::take(&mut from.allocation_mode),
            count: from.count,
            admin_access: from.admin_access,
            tolerations: std::mem::take(&mut from.tolerations),
            capacity: from.capacity.take(),
        }));
    }
}

/// Converts `exactly` to flat fields.
pub fn v1beta1_device_request_from_hub(from: &mut DeviceRequest, to: &mut v1beta1::DeviceRequest) {
    if let Some(exactly) = from.exactly.take() {
        to.device_class_name = exactly.device_class_name;
        to.selectors = exactly.selectors;
        to.allocation_mode = exactly.allocation_mode;
        to.count = exactly.count;
        to.admin_access = exactly.admin_access;
        to.tolerations = exactly.tolerations;
        to.capacity = exactly.capacity;
    }
}

/// Converts empty to absent.
pub fn v1beta1_resource_slice_spec_to_hub(from: &mut v1beta1::ResourceSliceSpec, to: &mut ResourceSliceSpec) {
    to.node_name = Some(std::mem::take(&mut from.node_name)).filter(|name| !name.is_empty());
    to.all_nodes = Some(from.all_nodes).filter(|all| *all);
}

/// Converts absent to empty.
pub fn v1beta1_resource_slice_spec_from_hub(from: &mut ResourceSliceSpec, to: &mut v1beta1::ResourceSliceSpec) {
    to.node_name = from.node_name.take().unwrap_or_default();
    to.all_nodes = from.all_nodes.unwrap_or_default();
}

/// Moves the fields of `basic` to the level of the name.
pub fn v1beta1_device_to_hub(from: &mut v1beta1::Device, to: &mut Device) {
    let Some(basic) = from.basic.take() else { return };
    let basic = *basic;
    to.attributes = basic.attributes;
    to.capacity = basic.capacity;
    to.consumes_counters = basic.consumes_counters;
    to.node_name = basic.node_name;
    to.node_selector = basic.node_selector;
    to.all_nodes = basic.all_nodes;
    to.taints = basic.taints;
    to.binds_to_node = basic.binds_to_node;
    to.binding_conditions = basic.binding_conditions;
    to.binding_failure_conditions = basic.binding_failure_conditions;
    to.allow_multiple_allocations = basic.allow_multiple_allocations;
    to.node_allocatable_resource_mappings = basic.node_allocatable_resource_mappings;
}

/// Moves the fields back to `basic`, which is always present.
pub fn v1beta1_device_from_hub(from: &mut Device, to: &mut v1beta1::Device) {
    to.basic = Some(Box::new(v1beta1::BasicDevice {
        attributes: std::mem::take(&mut from.attributes),
        capacity: std::mem::take(&mut from.capacity),
        consumes_counters: std::mem::take(&mut from.consumes_counters),
        node_name: from.node_name.take(),
        node_selector: from.node_selector.take(),
        all_nodes: from.all_nodes,
        taints: std::mem::take(&mut from.taints),
        binds_to_node: from.binds_to_node,
        binding_conditions: std::mem::take(&mut from.binding_conditions),
        binding_failure_conditions: std::mem::take(&mut from.binding_failure_conditions),
        allow_multiple_allocations: from.allow_multiple_allocations,
        node_allocatable_resource_mappings: std::mem::take(&mut from.node_allocatable_resource_mappings),
    }));
}
