//! `ResourceQuota`: charges objects to the quotas of their namespace before they are stored.
//!
//! The usage is in the status of the quotas.

mod charges;
mod limited;
mod scopes;
mod usage;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use endpoints::{Attributes, Operation, ServerContext};
use generated::core::v1::ResourceQuota;
use machinery::reflect::Owned;
use machinery::scalar::Quantity;
use machinery::status::Status;

use super::forbidden;
use super::lookup::find_all;

pub use charges::Charges;
pub use limited::Limited;

type Resources = BTreeMap<String, Quantity>;

const QUOTAS: (&str, &str) = ("", "resourcequotas");

/// Why a quota does not admit an object.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The usage would exceed the quota; the resources are texts such as `pods=2,cpu=1`.
    #[error("exceeded quota: {quota}, requested: {requested}, used: {used}, limited: {limited}")]
    Exceeded { quota: String, requested: String, used: String, limited: String },
    /// Containers do not specify resources that the quota counts.
    #[error("must specify {}", missing.join("; "))]
    Unspecified {
        /// Resources, each with its containers: `cpu for: one,two`.
        missing: Vec<String>,
    },
}

/// Charges an object to the quotas, or rejects it.
pub async fn validate(
    environment: &ServerContext,
    (charges, limited): (&Arc<Charges>, &Limited),
    attributes: &Attributes,
    object: &Owned,
    old: Option<&Owned>,
) -> Result<(), Status> {
    let old = old.filter(|_| attributes.operation == Operation::Update);
    if attributes.namespace.is_empty() || !usage::is_counted(attributes, object, old) {
        return Ok(());
    }
    let all = find_all::<ResourceQuota>(environment, attributes, QUOTAS, &attributes.namespace).await?;
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
    let Some(store) = environment.stores.get(&QUOTAS) else { return Ok(()) };
    for (quota, delta) in charged {
        charges.add(store, attributes, &quota.metadata.name, &delta).await?;
    }
    Ok(())
}

/// Returns the part of the requested usage that a quota counts.
fn requested(quota: &ResourceQuota, delta: &Resources) -> Resources {
    let counted = delta.iter().filter(|(name, _)| quota.status.hard.contains_key(*name));
    counted.map(|(name, quantity)| (name.clone(), quantity.clone())).collect()
}

/// Returns the usage after a charge, or an error when it exceeds the quota.
fn charge(quota: &ResourceQuota, delta: &Resources) -> Result<Resources, Refusal> {
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
    Err(Refusal::Exceeded {
        quota: quota.metadata.name.clone(),
        requested: shown(&requested),
        used: shown(&quota.status.used),
        limited: shown(&quota.status.hard),
    })
}
