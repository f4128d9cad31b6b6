//! Claims, and the devices that they have got.

use std::collections::HashSet;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::options;
use machinery::scalar::go_text::json_string;

use crate::core::validation::claim_spec::validate_template_meta;
use apimachinery::meta::v1::ObjectMeta;
use generated::resource::v1::{
    AllocatedDeviceStatus, DeviceClaim, ResourceClaim, ResourceClaimConsumerReference, ResourceClaimStatus,
};

/// The metadata of claims that are made from a template. By hand: core's templates ask for the same.
pub fn validate_claim_template_metadata(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &ObjectMeta,
    _: Option<&ObjectMeta>,
) {
    validate_template_meta(v, path, new);
}

/// The names that constraints, configurations and results may refer to (`gatherRequestNames`). By hand: names of
/// alternatives stand behind those of their requests, and of requests of one name the last one counts.
pub fn choose_device_requests(v: &mut Validation<'_>, _: &Path<'_>, new: &DeviceClaim, _: Option<&DeviceClaim>) {
    let mut known = HashSet::new();
    let mut names = Vec::new();
    for request in new.requests.iter().rev().filter(|request| known.insert(&request.name)) {
        names.push(request.name.clone());
        names.extend(request.first_available.iter().map(|one| format!("{}/{}", request.name, one.name)));
    }
    v.set_option_texts(options::DEVICE_REQUESTS, names);
}

/// Upstream's `SharedDeviceID`, as messages show it.
fn device_id(driver: &str, pool: &str, device: &str, share: Option<&str>) -> String {
    let [driver, pool, device, share] = [driver, pool, device, share.unwrap_or_default()].map(json_string);
    format!("{{\"Driver\":{driver},\"Pool\":{pool},\"Device\":{device},\"ShareID\":{share}}}")
}

/// The ids of the devices that a claim has got.
pub fn allocated_devices(status: &ResourceClaimStatus) -> impl Iterator<Item = String> {
    let results = status.allocation.iter().flat_map(|allocation| &allocation.devices.results);
    results.map(|one| device_id(&one.driver, &one.pool, &one.device, one.share_id.as_deref()))
}

/// The id of the device that a status is of.
pub fn id_of(device: &AllocatedDeviceStatus) -> String {
    device_id(&device.driver, &device.pool, &device.device, device.share_id.as_deref())
}

/// By hand, as the next two functions: an id is made of several fields, and messages show it.
pub fn choose_allocated_devices(
    v: &mut Validation<'_>,
    _: &Path<'_>,
    new: &ResourceClaimStatus,
    _: Option<&ResourceClaimStatus>,
) {
    v.set_option_texts(options::ALLOCATED_DEVICES, allocated_devices(new));
}

/// A status is of a device that the claim has got.
pub fn validate_allocated_device(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &AllocatedDeviceStatus,
    _: Option<&AllocatedDeviceStatus>,
) {
    let id = id_of(new);
    if !v.has_option_text(options::ALLOCATED_DEVICES, &id) {
        v.invalid(path, BadValue::Json(id), "must be an allocated device in the claim");
    }
}

/// A device has one status.
pub fn validate_distinct_devices(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &ResourceClaimStatus,
    _: Option<&ResourceClaimStatus>,
) {
    let devices = path.child("devices");
    let mut seen = HashSet::new();
    for (index, id) in new.devices.iter().map(id_of).enumerate() {
        if !seen.insert(id.clone()) {
            v.duplicate(&devices.index(index), BadValue::Json(id));
        }
    }
}

/// A claim that is deleted gets no new consumers. By hand: consumers are compared as a set.
pub fn validate_new_consumers(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &ResourceClaim,
    old: Option<&ResourceClaim>,
) {
    let facts = |consumer: &ResourceClaimConsumerReference| {
        let ResourceClaimConsumerReference { api_group, resource, name, uid, .. } = consumer.clone();
        (api_group, resource, name, uid)
    };
    let stored: HashSet<_> = old.iter().flat_map(|old| &old.status.reserved_for).map(facts).collect();
    let has_new = new.status.reserved_for.iter().any(|consumer| !stored.contains(&facts(consumer)));
    if has_new && new.status.allocation.is_some() && new.metadata.deletion_timestamp.is_some() {
        let detail = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set";
        v.forbidden(&path.child("status").child("reservedFor"), detail);
    }
}
