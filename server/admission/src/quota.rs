//! `ResourceQuota`: charges objects to the quotas of their namespace before they are stored.
//!
//! The usage is in the status of the quotas.

mod charge;
mod charges;
mod limited;
mod scopes;
mod usage;
mod violation;

use std::collections::BTreeSet;
use std::sync::Arc;

use endpoints::{AdmissionAttributes, Operation};
use generated::core::v1::ResourceQuota;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::Stores;

use super::forbidden;
use super::lookup::find_all;

use charge::{Resources, charge, requested};
pub use charges::Charges;
pub use limited::Limited;
pub use scopes::select as selects;
pub use usage::{counted, usage_of};
pub use violation::QuotaViolation;

const QUOTAS: (&str, &str) = ("", "resourcequotas");

/// Charges an object to the quotas, or rejects it.
pub async fn validate(
    stores: &Stores,
    (charges, limited): (&Arc<Charges>, &Limited),
    attributes: &AdmissionAttributes,
    object: &Owned,
    old: Option<&Owned>,
) -> Result<(), Status> {
    let old = old.filter(|_| attributes.operation == Operation::Update);
    if attributes.namespace.is_empty() || !usage::is_counted(attributes, object, old) {
        return Ok(());
    }
    let all = find_all::<ResourceQuota>(stores, attributes, QUOTAS, &attributes.namespace).await?;
    let is_of = |quota: &&ResourceQuota| {
        usage::matching(attributes, &quota.status.hard).next().is_some() && scopes::select(quota, object)
    };
    let quotas: Vec<&ResourceQuota> = all.iter().map(|quota| &**quota).filter(is_of).collect();
    if quotas.is_empty() && limited.is_empty() {
        return Ok(());
    }
    let refused = |why: String| forbidden(attributes, why);
    let mut covered = BTreeSet::new();
    for quota in &quotas {
        let required: Vec<&str> = usage::matching(attributes, &quota.status.hard).collect();
        let name = &quota.metadata.name;
        usage::constraints(&required, object).map_err(|why| refused(format!("failed quota: {name}: {why}")))?;
        let unknown: Vec<&str> =
            required.iter().copied().filter(|resource| !quota.status.used.contains_key(*resource)).collect();
        if !unknown.is_empty() {
            return Err(refused(format!("status unknown for quota: {name}, resources: {}", unknown.join(","))));
        }
        covered.extend(required.into_iter().map(str::to_owned));
    }
    let wanted = usage::usage(attributes, object);
    let negative: Vec<&str> =
        wanted.iter().filter(|(_, quantity)| quantity.sign().is_lt()).map(|(name, _)| name.as_str()).collect();
    if !negative.is_empty() {
        return Err(refused(format!("quota usage is negative for resource(s): {}", negative.join(","))));
    }
    let counted = old.map(|old| (old, usage::usage(attributes, old)));
    let deltas: Vec<(&ResourceQuota, Resources)> = quotas
        .into_iter()
        .map(|quota| {
            // A quota that did not count the old object is charged for all of the new object.
            let counted = counted.as_ref().filter(|(old, _)| scopes::select(quota, old));
            (quota, usage::increase(&wanted, counted.map(|(_, usage)| usage)))
        })
        .filter(|(_, delta)| !delta.is_empty())
        .collect();
    let uncounted = || usage::increase(&wanted, counted.as_ref().map(|(_, usage)| usage));
    if deltas.is_empty() && (!covered.is_empty() || uncounted().is_empty()) {
        return Ok(());
    }
    limited.check(attributes, object, all.iter().map(|quota| &**quota), &covered, &wanted)?;
    let mut charged = Vec::new();
    for (quota, delta) in deltas {
        if !requested(quota, &delta).is_empty() {
            charge(quota, &delta).map_err(|refusal| refused(refusal.to_string()))?;
            charged.push((quota, delta));
        }
    }
    if attributes.dry_run {
        return Ok(());
    }
    let Some(store) = stores.get(&QUOTAS) else { return Ok(()) };
    for (quota, delta) in charged {
        charges.add(store, attributes, &quota.metadata.name, &delta).await?;
    }
    Ok(())
}
