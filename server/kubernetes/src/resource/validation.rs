//! Hand-written validation of dynamic resource allocation that definitions cannot declare
//! (`pkg/apis/resource/validation`).

use std::cmp::Ordering;
use std::collections::HashSet;

use cel::{Environment, ObjectType, Type};
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::{Validation, WriteContext};
use machinery::json_name;
use machinery::scalar::Quantity;
use machinery::scalar::go_text::{json_string, quote};
use machinery::{features, options};

use crate::Error;
pub use crate::core::validation::claim_spec::validate_template_meta;
use generated::resource::v1::{
    AllocatedDeviceStatus, CELDeviceSelector, CapacityRequestPolicy, CapacityRequestPolicyRange, Device,
    DeviceAttribute, DeviceCapacity, DeviceClaim, NodeAllocatableResourceMapping, ResourceClaimStatus, ResourceSlice,
    ResourceSliceSpec,
};
pub use meta::validate_whole_metadata_update;

const MAX_ATTRIBUTES_AND_CAPACITIES: usize = 32;
const MAX_ATTRIBUTE_VALUES: usize = 48;
const MAX_AMOUNTS: usize = 10;

/// Records the names that constraints, configurations and results may refer to (`gatherRequestNames`).
/// Hand-written, because names of alternatives are prefixed with those of their requests, and the last
/// request with a name counts.
pub fn choose_device_requests(v: &mut Validation<'_>, _: &Path<'_>, new: &DeviceClaim, _: Option<&DeviceClaim>) {
    v.open_notes(options::DEVICE_REQUESTS);
    let mut known = HashSet::new();
    for request in new.requests.iter().rev().filter(|request| known.insert(&request.name)) {
        v.note(options::DEVICE_REQUESTS, &request.name);
        for one in &request.first_available {
            v.note(options::DEVICE_REQUESTS, &format!("{}/{}", request.name, one.name));
        }
    }
}

/// `validateCELSelector`. Hand-written, because the expression is compiled.
pub fn validate_device_expression(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &CELDeviceSelector,
    _: Option<&CELDeviceSelector>,
) {
    if let Err(why) = compile(&new.expression, v.context.enabled(features::DRAConsumableCapacity)) {
        v.invalid(&path.child(json_name!(CELDeviceSelector.expression)), &new.expression, why.to_string());
    }
}

/// `CompileCELExpression`: attributes have any type, so the result of one may be a boolean.
/// `consumable` enables shared devices.
fn compile(expression: &str, consumable: bool) -> Result<(), Error> {
    let by_domain = |of: Type| Type::map(Type::String, Type::map(Type::String, of));
    let mut fields = vec![
        ("driver", Type::String),
        ("attributes", by_domain(Type::Dyn)),
        ("capacity", by_domain(Type::Opaque("kubernetes.Quantity"))),
    ];
    fields.extend(consumable.then_some(("allowMultipleAllocations", Type::Bool)));
    let device = Type::object(ObjectType::new("kubernetes.DRADevice", fields));
    let environment = Environment::new([("device", device)]).with_bindings();
    let program = cel::compile(expression, &environment)?;
    match program.output() {
        Type::Bool | Type::Dyn => Ok(()),
        other => Err(Error::DeviceResultType { found: other.declared_name() }),
    }
}

/// Upstream's `SharedDeviceID` in the form shown in messages.
fn device_id(driver: &str, pool: &str, device: &str, share: Option<&str>) -> String {
    let [driver, pool, device, share] = [driver, pool, device, share.unwrap_or_default()].map(json_string);
    format!("{{\"Driver\":{driver},\"Pool\":{pool},\"Device\":{device},\"ShareID\":{share}}}")
}

/// Ids of the devices that are allocated to a claim.
pub(super) fn allocated_devices(status: &ResourceClaimStatus) -> impl Iterator<Item = String> {
    let results = status.allocation.iter().flat_map(|allocation| &allocation.devices.results);
    results.map(|one| device_id(&one.driver, &one.pool, &one.device, one.share_id.as_deref()))
}

/// Id of the device of a status.
pub(super) fn id_of(device: &AllocatedDeviceStatus) -> String {
    device_id(&device.driver, &device.pool, &device.device, device.share_id.as_deref())
}

/// Records allocated devices. Hand-written, as the next two functions, because an id is built from
/// several fields, and messages show it.
pub fn choose_allocated_devices(
    v: &mut Validation<'_>,
    _: &Path<'_>,
    new: &ResourceClaimStatus,
    _: Option<&ResourceClaimStatus>,
) {
    v.open_notes(options::ALLOCATED_DEVICES);
    allocated_devices(new).for_each(|id| v.note(options::ALLOCATED_DEVICES, &id));
}

/// Checks that the device of a status is allocated to the claim.
pub fn validate_allocated_device(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &AllocatedDeviceStatus,
    _: Option<&AllocatedDeviceStatus>,
) {
    let id = id_of(new);
    if !v.has_noted(options::ALLOCATED_DEVICES, &id) {
        v.invalid(path, BadValue::Json(id), "must be an allocated device in the claim");
    }
}

/// Checks that each device has one status.
pub fn validate_distinct_devices(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &ResourceClaimStatus,
    _: Option<&ResourceClaimStatus>,
) {
    let devices = path.child(json_name!(ResourceClaimStatus.devices));
    let mut seen = HashSet::new();
    for (index, id) in new.devices.iter().map(id_of).enumerate().filter(|(_, id)| !seen.insert(id.clone())) {
        v.duplicate(&devices.index(index), BadValue::Json(id));
    }
}

/// Sets the option that lowers the maximum number of devices in a slice with taints, counters or list
/// attributes. Hand-written, because a single such device is enough.
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

/// Checks that the slice specifies in a single way which nodes can access its devices. Hand-written, as
/// for a device, because messages show the ways.
pub fn validate_single_access(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &ResourceSliceSpec,
    _: Option<&ResourceSliceSpec>,
) {
    let by_device = ("`perDeviceNodeSelection`", new.per_device_node_selection == Some(true));
    let ways = ways_to_nodes(&new.node_name, new.node_selector.is_some(), new.all_nodes).chain([by_device]);
    let detail = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but \
                  multiple fields are set";
    refuse_several(v, path, ways, detail);
}

/// Checks that a device specifies in a single way which nodes can access it.
pub fn validate_single_device_access(v: &mut Validation<'_>, path: &Path<'_>, new: &Device, _: Option<&Device>) {
    let detail = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` \
                  is set to true in the ResourceSlice spec";
    refuse_several(v, path, ways_to_nodes(&new.node_name, new.node_selector.is_some(), new.all_nodes), detail);
}

fn ways_to_nodes(
    name: &Option<String>,
    selector: bool,
    all: Option<bool>,
) -> impl Iterator<Item = (&'static str, bool)> {
    let name = name.as_ref().is_some_and(|name| !name.is_empty());
    [("`nodeName`", name), ("`nodeSelector`", selector), ("`allNodes`", all == Some(true))].into_iter()
}

fn refuse_several(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    ways: impl Iterator<Item = (&'static str, bool)>,
    detail: &'static str,
) {
    let chosen: Vec<&str> = ways.filter(|(_, is_set)| *is_set).map(|(way, _)| way).collect();
    if chosen.len() > 1 {
        v.invalid(path, format!("{{{}}}", chosen.join(", ")), detail);
    }
}

/// Validates the numbers of attributes, capacities and values of a device. Hand-written, because the
/// sizes of several maps are added, and messages show the numbers.
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

/// Checks that mappings refer to capacities of the device. Hand-written, because a missing one is
/// reported as not found.
pub fn validate_capacity_keys(v: &mut Validation<'_>, path: &Path<'_>, new: &Device, _: Option<&Device>) {
    let path = path.child(json_name!(Device.node_allocatable_resource_mappings));
    for (name, mapping) in &new.node_allocatable_resource_mappings {
        let is_missing = |key: &&String| !key.is_empty() && !new.capacity.contains_key(*key);
        if let Some(key) = mapping.capacity_key.as_ref().filter(is_missing) {
            v.not_found(
                &path.key(name).child(json_name!(NodeAllocatableResourceMapping.capacity_key)),
                BadValue::json_string(key),
            );
        }
    }
}

/// Validates the request policy of a capacity (`validateRequestPolicy`). Hand-written, because amounts
/// are compared with each other, and messages show them. Required fields are declared.
pub fn validate_shared_capacity(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &DeviceCapacity,
    _: Option<&DeviceCapacity>,
) {
    let Some(policy) = &new.request_policy else { return };
    let (path, Some(default)) = (path.child(json_name!(DeviceCapacity.request_policy)), &policy.default) else {
        return;
    };
    match (policy.valid_values.as_slice(), &policy.valid_range) {
        ([], Some(range)) => {
            validate_range(v, &path.child(json_name!(CapacityRequestPolicy.valid_range)), range, default, &new.value)
        }
        ([], None) | (_, Some(_)) => {}
        (values, None) => {
            validate_values(v, &path.child(json_name!(CapacityRequestPolicy.valid_values)), values, default, &new.value)
        }
    }
}

fn compare(a: &Quantity, b: &Quantity) -> Ordering {
    let mut difference = a.clone();
    difference.sub(b);
    difference.sign()
}

/// `validateRequestPolicyValidValues`; if there are too many values, none is checked, so that the
/// default matches none.
fn validate_values(v: &mut Validation<'_>, path: &Path<'_>, values: &[Quantity], default: &Quantity, all: &Quantity) {
    for (index, pair) in values.windows(2).enumerate().filter(|(_, pair)| compare(&pair[0], &pair[1]).is_gt()) {
        v.invalid(&path.index(index + 1), pair[1].to_string(), "values must be sorted in ascending order");
    }
    let values = if values.len() > MAX_AMOUNTS {
        v.too_many(path, values.len(), MAX_AMOUNTS);
        &[]
    } else {
        values
    };
    for (index, value) in values.iter().enumerate().filter(|(_, value)| compare(value, all).is_gt()) {
        let detail = format!("option is larger than capacity value: {all}");
        v.invalid(&path.index(index), value.to_string(), detail);
    }
    let mut seen = HashSet::new();
    for (index, value) in values.iter().map(Quantity::value).enumerate().filter(|(_, value)| !seen.insert(*value)) {
        v.duplicate(&path.index(index), value.to_string());
    }
    if !values.iter().any(|value| compare(value, default).is_eq()) {
        v.invalid(path, default.to_string(), "default value is not valid according to the requestPolicy");
    }
}

/// `validateRequestPolicyRange`
fn validate_range(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    range: &CapacityRequestPolicyRange,
    default: &Quantity,
    all: &Quantity,
) {
    let Some(min) = &range.min else { return };
    let mut refuse = |field: &str, wrong: bool, value: &Quantity, detail: String| {
        if wrong {
            v.invalid(&path.child(field), value.to_string(), detail);
        }
    };
    refuse("min", compare(min, all).is_gt(), min, format!("min is larger than capacity value: {all}"));
    refuse("min", compare(default, min).is_lt(), default, format!("default is less than min: {min}"));
    if let Some(max) = &range.max {
        refuse("max", compare(min, max).is_gt(), min, format!("min is larger than max: {max}"));
        refuse("max", compare(max, all).is_gt(), max, format!("max is larger than capacity value: {all}"));
        refuse("max", compare(default, max).is_gt(), default, format!("default is more than max: {max}"));
    }
    let Some(step) = &range.step else { return };
    let mut one = min.clone();
    one.add(step);
    let detail = format!("one step {one} is larger than capacity value: {all}");
    refuse("step", compare(&one, all).is_gt(), step, detail);
    for value in [Some(default), range.max.as_ref()].into_iter().flatten() {
        let rest = (value.value() - min.value()).checked_rem(step.value());
        let detail = format!("value is not a multiple of a given step ({step}) from ({min})");
        refuse("step", rest != Some(0), value, detail);
    }
}

/// Warns about driver names that are not in lower case, because names are compared in lower case
/// (`resourceSliceStrategy.WarningsOnCreate`).
pub fn warn_resource_slice(_: &WriteContext, new: &ResourceSlice, _: Option<&ResourceSlice>) -> Vec<String> {
    let driver = &new.spec.driver;
    if *driver == driver.to_lowercase() {
        return Vec::new();
    }
    let shown = quote(driver);
    vec![format!("spec.driver: driver names should be lowercase; {shown} contains uppercase characters")]
}
