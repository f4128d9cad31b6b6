//! Amounts of resources, and their charge to a quota.

use std::collections::BTreeMap;

use generated::core::v1::ResourceQuota;
use machinery::scalar::Quantity;

use super::violation::QuotaViolation;

pub(super) type Resources = BTreeMap<String, Quantity>;

/// Returns the part of the requested usage that a quota counts.
pub(super) fn requested(quota: &ResourceQuota, delta: &Resources) -> Resources {
    let counted = delta.iter().filter(|(name, _)| quota.status.hard.contains_key(*name));
    counted.map(|(name, quantity)| (name.clone(), quantity.clone())).collect()
}

/// Returns the usage after a charge, or an error when it exceeds the quota.
pub(super) fn charge(quota: &ResourceQuota, delta: &Resources) -> Result<Resources, QuotaViolation> {
    let requested = requested(quota, delta);
    let mut used = quota.status.used.clone();
    let mut exceeded = Vec::new();
    for (name, quantity) in &requested {
        let total = used.entry(name.clone()).or_default();
        total.add(quantity);
        if quota.status.hard.get(name).is_some_and(|hard| *total > *hard) {
            exceeded.push(name);
        }
    }
    if exceeded.is_empty() {
        return Ok(used);
    }
    let shown = |of: &Resources| {
        let value = |name: &&String| of.get(*name).map(|quantity| format!("{name}={quantity}"));
        exceeded.iter().filter_map(value).collect::<Vec<_>>().join(",")
    };
    Err(QuotaViolation::Exceeded {
        quota: quota.metadata.name.clone(),
        requested: shown(&requested),
        used: shown(&quota.status.used),
        limited: shown(&quota.status.hard),
    })
}
