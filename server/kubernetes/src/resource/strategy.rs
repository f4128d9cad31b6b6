//! Strategies of resource claims and device taint rules.

use std::collections::BTreeSet;

use machinery::hooks::WriteContext;
use machinery::scalar::Time;

use super::validation::{allocated_devices, id_of};
use generated::resource::v1::ResourceClaim;
use generated::resource::v1beta2::DeviceTaintRule;

/// Removes the status of devices that are no longer allocated to a claim
/// (`dropDeallocatedStatusDevices`).
pub fn update_resource_claim(context: &WriteContext, new: &mut ResourceClaim, old: &ResourceClaim) {
    if context.subresource != "status" {
        return;
    }
    let kept: BTreeSet<String> = allocated_devices(&new.status).collect();
    let gone: BTreeSet<String> = allocated_devices(&old.status).filter(|id| !kept.contains(id)).collect();
    new.status.devices.retain(|device| !gone.contains(&id_of(device)));
}

/// Sets the time of a taint when its effect changes (`deviceTaintRuleStrategy.PrepareForUpdate`).
pub fn update_device_taint_rule(context: &WriteContext, new: &mut DeviceTaintRule, old: &DeviceTaintRule) {
    let (taint, stored) = (&mut new.spec.taint, &old.spec.taint);
    if context.subresource.is_empty() && taint.effect != stored.effect && taint.time_added == stored.time_added {
        taint.time_added = Some(Time::from_unix(context.now.unix()));
    }
}
