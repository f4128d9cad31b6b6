//! What became of a claim.

use std::collections::{BTreeSet, HashSet};

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{NameRule, ip};
use machinery::hooks::Validation;
use machinery::reflect::Ref;
use machinery::scalar::go_text::json_string;
use meta::validate_conditions;

use super::IMMUTABLE;
use super::allocation::validate_allocation;
use super::configuration::validate_object;
use super::items::{validate_set, validate_texts};
use super::names::{validate_driver, validate_pool, validate_uid};
use super::request::RequestNames;
use crate::core::internal::internal_value;
use generated::resource::v1::{
    AllocatedDeviceStatus, NetworkDeviceData, ResourceClaim, ResourceClaimConsumerReference, ResourceClaimStatus,
};

const MAX_CONSUMERS: usize = 256;
const MAX_CONDITIONS: usize = 8;
const MAX_DATA: usize = 10 * 1024;
const MAX_IPS: usize = 16;
const MAX_INTERFACE_LENGTH: usize = 256;
const MAX_HARDWARE_LENGTH: usize = 128;

/// `validateResourceClaimStatusUpdate`
pub fn validate_status(v: &mut Validation<'_>, path: &Path<'_>, new: &ResourceClaim, old: &ResourceClaim) {
    let names = RequestNames::of(&new.spec.devices);
    let (status, stored) = (&new.status, &old.status);
    let consumers = path.child("reservedFor");
    let key = |consumer: &ResourceClaimConsumerReference| BadValue::json_string(&consumer.uid);
    validate_set(v, &consumers, &status.reserved_for, MAX_CONSUMERS, key, |v, path, consumer| {
        for (field, value) in [("resource", &consumer.resource), ("name", &consumer.name), ("uid", &consumer.uid)] {
            v.filled(&path.child(field), value);
        }
    });
    let allocated: BTreeSet<String> = allocated_devices(status).collect();
    let key = |device: &AllocatedDeviceStatus| BadValue::Json(id_of(device));
    validate_set(v, &path.child("devices"), &status.devices, usize::MAX, key, |v, path, device| {
        validate_device(v, path, device, &allocated);
    });
    if !status.reserved_for.is_empty() && status.allocation.is_none() {
        v.forbidden(&consumers, "may not be specified when `allocated` is not set");
    } else if new.metadata.deletion_timestamp.is_some() && has_new_consumers(status, stored) {
        let detail = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set";
        v.forbidden(&consumers, detail);
    }
    let path = path.child("allocation");
    match (&status.allocation, &stored.allocation) {
        (Some(new), Some(old)) if Ref::of(&**new) != Ref::of(&**old) => {
            v.invalid(&path, internal_value(&**new), IMMUTABLE);
        }
        (Some(new), None) => validate_allocation(v, &path, new, &names),
        _ => {}
    }
}

fn has_new_consumers(new: &ResourceClaimStatus, old: &ResourceClaimStatus) -> bool {
    let facts = |consumer: &ResourceClaimConsumerReference| {
        let ResourceClaimConsumerReference { api_group, resource, name, uid, .. } = consumer.clone();
        (api_group, resource, name, uid)
    };
    let stored: HashSet<_> = old.reserved_for.iter().map(facts).collect();
    new.reserved_for.iter().any(|consumer| !stored.contains(&facts(consumer)))
}

/// Upstream's `SharedDeviceID`, as messages show it.
pub fn device_id(driver: &str, pool: &str, device: &str, share: Option<&str>) -> String {
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

/// `validateDeviceStatus`
fn validate_device(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    device: &AllocatedDeviceStatus,
    allocated: &BTreeSet<String>,
) {
    validate_driver(v, &path.child("driver"), &device.driver);
    validate_pool(v, &path.child("pool"), &device.pool);
    v.name(&path.child("device"), &device.device, NameRule::Dns1123Label);
    if let Some(share) = &device.share_id {
        validate_uid(v, &path.child("shareID"), share);
    }
    let id = id_of(device);
    if !allocated.contains(&id) {
        v.invalid(path, BadValue::Json(id), "must be an allocated device in the claim");
    }
    let conditions = path.child("conditions");
    if device.conditions.len() > MAX_CONDITIONS {
        v.too_many(&conditions, device.conditions.len(), MAX_CONDITIONS);
    }
    validate_conditions(v, &conditions, &device.conditions);
    if let Some(data) = device.data.as_ref().filter(|data| !data.is_empty()) {
        validate_object(v, &path.child("data"), data, MAX_DATA);
    }
    if let Some(network) = &device.network_data {
        validate_network(v, &path.child("networkData"), network);
    }
}

/// `validateNetworkDeviceData`
fn validate_network(v: &mut Validation<'_>, path: &Path<'_>, network: &NetworkDeviceData) {
    for (field, text, max) in [
        ("interfaceName", &network.interface_name, MAX_INTERFACE_LENGTH),
        ("hardwareAddress", &network.hardware_address, MAX_HARDWARE_LENGTH),
    ] {
        if text.len() > max {
            v.too_long(&path.child(field), max);
        }
    }
    validate_texts(v, &path.child("ips"), &network.ips, MAX_IPS, |v, path, address| {
        v.errors.extend(ip::is_valid_interface_address(path, address));
    });
}
