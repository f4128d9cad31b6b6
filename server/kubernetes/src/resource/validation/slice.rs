//! Slices of devices.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::{Context, Validation};
use machinery::options;
use machinery::scalar::go_text::quote;

use generated::resource::v1::{Device, DeviceAttribute, ResourceSlice, ResourceSliceSpec};

const MAX_ATTRIBUTES_AND_CAPACITIES: usize = 32;
const MAX_ATTRIBUTE_VALUES: usize = 48;

/// Slices hold fewer devices with taints, counters or lists of values. By hand: some device has to have such.
pub fn choose_advanced_devices(
    v: &mut Validation<'_>,
    _: &Path<'_>,
    new: &ResourceSliceSpec,
    _: Option<&ResourceSliceSpec>,
) {
    let is_advanced = |device: &Device| {
        let has_lists = device.attributes.values().any(|attribute| number_of_items(attribute) > 0);
        has_lists || !device.taints.is_empty() || !device.consumes_counters.is_empty()
    };
    v.set_option(options::ADVANCED_DEVICES, new.devices.iter().any(is_advanced));
}

fn number_of_items(attribute: &DeviceAttribute) -> usize {
    attribute.bools.len() + attribute.ints.len() + attribute.strings.len() + attribute.versions.len()
}

/// The slice tells in one way which nodes reach its devices. By hand, as for a device: messages show the ways.
pub fn validate_single_access(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &ResourceSliceSpec,
    _: Option<&ResourceSliceSpec>,
) {
    let ways = [
        ("`nodeName`", is_there(&new.node_name)),
        ("`nodeSelector`", new.node_selector.is_some()),
        ("`allNodes`", new.all_nodes == Some(true)),
        ("`perDeviceNodeSelection`", new.per_device_node_selection == Some(true)),
    ];
    let detail = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but \
                  multiple fields are set";
    refuse_several(v, path, &ways, detail);
}

/// A device tells in one way which nodes reach it.
pub fn validate_single_device_access(v: &mut Validation<'_>, path: &Path<'_>, new: &Device, _: Option<&Device>) {
    let ways = [
        ("`nodeName`", is_there(&new.node_name)),
        ("`nodeSelector`", new.node_selector.is_some()),
        ("`allNodes`", new.all_nodes == Some(true)),
    ];
    let detail = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is \
                  set to true in the ResourceSlice spec";
    refuse_several(v, path, &ways, detail);
}

fn is_there(text: &Option<String>) -> bool {
    text.as_ref().is_some_and(|text| !text.is_empty())
}

fn refuse_several(v: &mut Validation<'_>, path: &Path<'_>, ways: &[(&str, bool)], detail: &'static str) {
    let chosen: Vec<&str> = ways.iter().filter(|(_, is_set)| *is_set).map(|(way, _)| *way).collect();
    if chosen.len() > 1 {
        v.invalid(path, format!("{{{}}}", chosen.join(", ")), detail);
    }
}

/// How many attributes and capacities a device has, and how many values. By hand: several maps are counted together,
/// and messages show the numbers.
pub fn validate_number_of_attributes(v: &mut Validation<'_>, path: &Path<'_>, new: &Device, _: Option<&Device>) {
    let values = new.attributes.values().map(|attribute| number_of_items(attribute).max(1)).sum();
    for (number, max, what) in [
        (new.attributes.len() + new.capacity.len(), MAX_ATTRIBUTES_AND_CAPACITIES, "attributes and capacities"),
        (values, MAX_ATTRIBUTE_VALUES, "attribute values"),
    ] {
        if number > max {
            v.invalid(path, number, format!("the total number of {what} must not exceed {max}"));
        }
    }
}

/// Mappings name capacities of the device. By hand: what is not found is reported as such.
pub fn validate_capacity_keys(v: &mut Validation<'_>, path: &Path<'_>, new: &Device, _: Option<&Device>) {
    let path = path.child("nodeAllocatableResourceMappings");
    for (name, mapping) in &new.node_allocatable_resource_mappings {
        if let Some(key) =
            mapping.capacity_key.as_ref().filter(|key| !key.is_empty() && !new.capacity.contains_key(*key))
        {
            v.not_found(&path.key(name).child("capacityKey"), BadValue::json_string(key));
        }
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
