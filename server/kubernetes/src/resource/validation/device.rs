//! A device of a slice.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use super::allocation::validate_binding;
use super::attribute::validate_attribute;
use super::capacity::validate_capacity;
use super::items::{validate_list, validate_map, validate_set};
use super::names::{MAX_QUALIFIED_LENGTH, validate_node_name, validate_qualified, validate_required_label};
use super::slice::validate_counters;
use super::taint::validate_taint;
use crate::core::validation::node_selector::validate_node_selector;
use crate::core::validation::resources::is_native_resource;
use generated::resource::v1::{Device, DeviceAttribute, DeviceCounterConsumption};

const MAX_ATTRIBUTES_AND_CAPACITIES: usize = 32;
const MAX_ATTRIBUTE_VALUES: usize = 48;
const MAX_TAINTS: usize = 16;
const MAX_CONSUMPTIONS: usize = 2;

/// `validateDevice`; `nodes_differ`: each device says which nodes reach it.
pub fn validate_device(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    device: &Device,
    old: Option<&Device>,
    nodes_differ: bool,
) {
    v.name(&path.child("name"), &device.name, NameRule::Dns1123Label);
    validate_size(v, path, device);
    let limits = (usize::MAX, MAX_QUALIFIED_LENGTH);
    validate_map(v, &path.child("attributes"), &device.attributes, limits, validate_qualified, validate_attribute);
    let shared = device.allow_multiple_allocations == Some(true);
    validate_map(v, &path.child("capacity"), &device.capacity, limits, validate_qualified, |v, path, capacity| {
        validate_capacity(v, path, capacity, shared);
    });
    if old.is_none_or(|old| !same_taints(old, device)) {
        let taints = path.child("taints");
        validate_list(v, &taints, &device.taints, MAX_TAINTS, |v, path, taint| validate_taint(v, path, taint, None));
    }
    let key = |one: &DeviceCounterConsumption| BadValue::from(&one.counter_set);
    let counters = path.child("consumesCounters");
    validate_set(v, &counters, &device.consumes_counters, MAX_CONSUMPTIONS, key, |v, path, one| {
        validate_required_label(v, &path.child("counterSet"), &one.counter_set);
        validate_counters(v, &path.child("counters"), &one.counters);
    });
    validate_nodes(v, path, device, nodes_differ);
    validate_binding(v, path, &device.binding_conditions, &device.binding_failure_conditions);
    validate_mappings(v, &path.child("nodeAllocatableResourceMappings"), device);
}

fn same_taints(old: &Device, new: &Device) -> bool {
    Ref::of(old).by_name("taints") == Ref::of(new).by_name("taints")
}

fn validate_size(v: &mut Validation<'_>, path: &Path<'_>, device: &Device) {
    let entries = device.attributes.len() + device.capacity.len();
    if entries > MAX_ATTRIBUTES_AND_CAPACITIES {
        let max = MAX_ATTRIBUTES_AND_CAPACITIES;
        v.invalid(path, entries, format!("the total number of attributes and capacities must not exceed {max}"));
    }
    let values = device.attributes.values().map(number_of_values).sum::<usize>();
    if values > MAX_ATTRIBUTE_VALUES {
        let detail = format!("the total number of attribute values must not exceed {MAX_ATTRIBUTE_VALUES}");
        v.invalid(path, values, detail);
    }
}

/// Each item of a list counts.
fn number_of_values(attribute: &DeviceAttribute) -> usize {
    let items = attribute.bools.len() + attribute.ints.len() + attribute.strings.len() + attribute.versions.len();
    items.max(1)
}

fn validate_nodes(v: &mut Validation<'_>, path: &Path<'_>, device: &Device, nodes_differ: bool) {
    if !nodes_differ {
        if device.node_name.is_some() || device.node_selector.is_some() || device.all_nodes.is_some() {
            let detail = "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to \
                          true in the ResourceSlice spec";
            v.invalid(path, BadValue::None, detail);
        }
        return;
    }
    let mut said = Vec::new();
    match device.node_name.as_deref() {
        Some("") => v.invalid(&path.child("nodeName"), "", "must not be empty"),
        Some(name) => {
            said.push("`nodeName`");
            validate_node_name(v, &path.child("nodeName"), name);
        }
        None => {}
    }
    if let Some(selector) = &device.node_selector {
        said.push("`nodeSelector`");
        validate_node_selector(v, &path.child("nodeSelector"), selector, false);
    }
    match device.all_nodes {
        Some(true) => said.push("`allNodes`"),
        Some(false) => v.invalid(&path.child("allNodes"), false, "must be either unset or set to true"),
        None => {}
    }
    let one = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set \
               to true in the ResourceSlice spec";
    match said.len() {
        0 => v.required(path, one),
        1 => {}
        _ => v.invalid(path, format!("{{{}}}", said.join(", ")), one),
    }
}

/// `validateNodeAllocatableResourceMappings`
fn validate_mappings(v: &mut Validation<'_>, path: &Path<'_>, device: &Device) {
    for (name, mapping) in &device.node_allocatable_resource_mappings {
        let path = path.key(name);
        if !is_native_resource(name) {
            v.invalid(&path, BadValue::json_string(name), "must be a node allocatable resource name");
        }
        if mapping.allocation_multiplier.is_none() && mapping.capacity_key.is_none() {
            v.invalid(&path, "", "at least one of allocationMultiplier or capacityKey must be set");
        }
        if let Some(factor) = mapping.allocation_multiplier.as_ref().filter(|factor| !factor.sign().is_gt()) {
            v.invalid(&path.child("allocationMultiplier"), factor.to_string(), "must be positive");
        }
        let key_path = path.child("capacityKey");
        match mapping.capacity_key.as_deref() {
            Some("") => v.invalid(&key_path, "", "capacityKey must not be an empty string"),
            Some(key) if !device.capacity.contains_key(key) => v.not_found(&key_path, BadValue::json_string(key)),
            _ => {}
        }
    }
}
