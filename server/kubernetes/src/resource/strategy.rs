//! Claims, classes, slices and rules.

use std::collections::BTreeSet;

use machinery::hooks::Context;
use machinery::scalar::Time;

use super::validation::{allocated_devices, id_of};
use generated::resource::v1::ResourceClaim;
use generated::resource::v1beta2::DeviceTaintRule;

/// What a claim no longer has is no longer described (`dropDeallocatedStatusDevices`).
pub fn update_resource_claim(context: &Context, new: &mut ResourceClaim, old: &ResourceClaim) {
    if context.subresource != "status" {
        return;
    }
    let kept: BTreeSet<String> = allocated_devices(&new.status).collect();
    let gone: BTreeSet<String> = allocated_devices(&old.status).filter(|id| !kept.contains(id)).collect();
    new.status.devices.retain(|device| !gone.contains(&id_of(device)));
}

/// The time of a taint is that of its effect (`deviceTaintRuleStrategy.PrepareForUpdate`).
pub fn update_device_taint_rule(context: &Context, new: &mut DeviceTaintRule, old: &DeviceTaintRule) {
    let (taint, stored) = (&mut new.spec.taint, &old.spec.taint);
    if context.subresource.is_empty() && taint.effect != stored.effect && taint.time_added == stored.time_added {
        taint.time_added = Some(Time::from_unix(context.now.unix()));
    }
}
