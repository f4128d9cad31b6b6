//! The devices that there are.

use std::collections::HashMap;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::{Context, Validation};
use machinery::scalar::go_text::quote;

use super::IMMUTABLE;
use super::device::validate_device;
use super::items::{validate_map, validate_set};
use super::names::{validate_driver, validate_node_name, validate_pool, validate_required_label};
use crate::core::internal::internal_values;
use crate::core::validation::node_selector::validate_node_selector;
use generated::resource::v1::{Counter, CounterSet, Device, ResourcePool, ResourceSlice, ResourceSliceSpec};

const MAX_DEVICES: usize = 128;
/// Of devices with taints, counters or lists.
const MAX_ADVANCED_DEVICES: usize = 64;
const MAX_COUNTER_SETS: usize = 8;
/// In a set, and consumed from one.
pub const MAX_COUNTERS: usize = 32;
/// What messages show of a counter's name.
const COUNTER_LENGTH: usize = 63;

/// `ValidateResourceSlice`, `ValidateResourceSliceUpdate`
pub fn validate_resource_slice(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &ResourceSlice,
    old: Option<&ResourceSlice>,
) {
    let (path, spec, old) = (path.child("spec"), &new.spec, old.map(|old| &old.spec));
    validate_driver(v, &path.child("driver"), &spec.driver);
    validate_resource_pool(v, &path.child("pool"), &spec.pool);
    if let Some(old) = old {
        validate_same_place(v, &path, spec, old);
    }
    validate_nodes(v, &path, spec);
    // An empty list that was sent counts, as upstream.
    let has_counters = !spec.shared_counters.is_empty() || v.context.sent.is_empty_at("spec.sharedCounters");
    let has_devices = !spec.devices.is_empty() || v.context.sent.is_empty_at("spec.devices");
    if has_counters && has_devices {
        v.invalid(&path, "", "only one of `sharedCounters` or `devices` is allowed");
    }
    let max = if spec.devices.iter().any(is_advanced) { MAX_ADVANCED_DEVICES } else { MAX_DEVICES };
    let key = |device: &Device| BadValue::from(&device.name);
    let nodes_differ = spec.per_device_node_selection == Some(true);
    // Of devices of one name, the first one counts.
    let old_devices = old.iter().flat_map(|old| old.devices.iter().rev());
    let old_devices: HashMap<&str, &Device> = old_devices.map(|old| (old.name.as_str(), old)).collect();
    validate_set(v, &path.child("devices"), &spec.devices, max, key, |v, path, device| {
        validate_device(v, path, device, old_devices.get(device.name.as_str()).copied(), nodes_differ);
    });
    let key = |set: &CounterSet| BadValue::from(&set.name);
    validate_set(v, &path.child("sharedCounters"), &spec.shared_counters, MAX_COUNTER_SETS, key, |v, path, set| {
        validate_required_label(v, &path.child("name"), &set.name);
        validate_counters(v, &path.child("counters"), &set.counters);
    });
}

fn is_advanced(device: &Device) -> bool {
    let has_lists = device.attributes.values().any(|attribute| {
        !(attribute.bools.is_empty()
            && attribute.ints.is_empty()
            && attribute.strings.is_empty()
            && attribute.versions.is_empty())
    });
    has_lists || !device.taints.is_empty() || !device.consumes_counters.is_empty()
}

/// Any amount will do.
pub fn validate_counters(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    counters: &std::collections::BTreeMap<String, Counter>,
) {
    if counters.is_empty() {
        return v.required(path, "");
    }
    let name = |v: &mut Validation<'_>, path: &Path<'_>, name: &str| v.name(path, name, NameRule::Dns1123Label);
    validate_map(v, path, counters, (MAX_COUNTERS, COUNTER_LENGTH), name, |_, _, _| {});
}

fn validate_resource_pool(v: &mut Validation<'_>, path: &Path<'_>, pool: &ResourcePool) {
    validate_pool(v, &path.child("name"), &pool.name);
    v.positive(&path.child("resourceSliceCount"), pool.resource_slice_count);
    if pool.generation < 0 {
        v.invalid(&path.child("generation"), pool.generation, "must be greater than or equal to zero");
    }
}

fn validate_same_place(v: &mut Validation<'_>, path: &Path<'_>, new: &ResourceSliceSpec, old: &ResourceSliceSpec) {
    if new.pool.name != old.pool.name {
        v.invalid(&path.child("pool.name"), &new.pool.name, IMMUTABLE);
    }
    if new.driver != old.driver {
        v.invalid(&path.child("driver"), &new.driver, IMMUTABLE);
    }
    if new.node_name != old.node_name {
        let shown = new.node_name.as_deref().map_or(BadValue::None, BadValue::json_string);
        v.invalid(&path.child("nodeName"), shown, IMMUTABLE);
    }
}

/// Which nodes reach the devices is said in one way.
fn validate_nodes(v: &mut Validation<'_>, path: &Path<'_>, spec: &ResourceSliceSpec) {
    let mut said = Vec::new();
    match spec.node_name.as_deref() {
        Some("") => v.invalid(&path.child("nodeName"), "", "must be either unset or set to a non-empty string"),
        Some(name) => {
            said.push("`nodeName`");
            validate_node_name(v, &path.child("nodeName"), name);
        }
        None => {}
    }
    if let Some(selector) = &spec.node_selector {
        said.push("`nodeSelector`");
        let path = path.child("nodeSelector");
        validate_node_selector(v, &path, selector, false);
        if selector.node_selector_terms.len() != 1 {
            let shown = internal_values(&selector.node_selector_terms);
            v.invalid(&path.child("nodeSelectorTerms"), shown, "must have exactly one node selector term");
        }
    }
    for (field, shown, value) in [
        ("allNodes", "`allNodes`", spec.all_nodes),
        ("perDeviceNodeSelection", "`perDeviceNodeSelection`", spec.per_device_node_selection),
    ] {
        match value {
            Some(true) => said.push(shown),
            Some(false) => v.invalid(&path.child(field), false, "must be either unset or set to true"),
            None => {}
        }
    }
    let one = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
    match said.len() {
        0 => v.required(path, one),
        1 => {}
        _ => v.invalid(path, format!("{{{}}}", said.join(", ")), format!("{one}, but multiple fields are set")),
    }
}

/// Names of drivers are compared in lower case (`resourceSliceStrategy.WarningsOnCreate`).
pub fn warn_resource_slice(_: &Context, new: &ResourceSlice, _: Option<&ResourceSlice>) -> Vec<String> {
    let driver = &new.spec.driver;
    if *driver == driver.to_lowercase() {
        return Vec::new();
    }
    let shown = quote(driver);
    vec![format!("spec.driver: driver names should be lowercase; {shown} contains uppercase characters")]
}
