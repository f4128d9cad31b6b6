//! Deduplication of owner references (`dedupOwnerReferencesAndAddWarning`).

use std::collections::HashSet;
use std::hash::Hash;

use apimachinery::meta::v1::OwnerReference;
use machinery::reflect::Owned;
use registry::meta_mut;
use request::warnings::Warnings;

/// When owner references are checked; part of the warning.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum DedupStage {
    /// The object as the client sent it.
    RequestDocument,
    /// The object after mutating admission.
    Admitted,
}

/// Removes duplicate owner references and warns of them.
pub fn deduplicate(object: &mut Owned, warnings: &Warnings, stage: DedupStage) {
    let Some(meta) = meta_mut(object).filter(|meta| meta.owner_references.len() > 1) else { return };
    let (mut kept, mut repeated) = (Vec::new(), Vec::new());
    let owners = std::mem::take(&mut meta.owner_references);
    let is_first: Vec<bool> = {
        let mut known = HashSet::with_capacity(owners.len());
        owners.iter().map(|owner| known.insert(identity(owner))).collect()
    };
    for (owner, is_first) in owners.into_iter().zip(is_first) {
        if is_first { kept.push(owner) } else { repeated.push(owner.uid) }
    }
    meta.owner_references = kept;
    if repeated.is_empty() {
        return;
    }
    let when = if stage == DedupStage::Admitted { " after mutating admission happens" } else { "" };
    warnings.add(&format!(
        ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
        repeated.join(", ")
    ));
}

/// Compares all fields of an owner reference.
fn identity(owner: &OwnerReference) -> impl Eq + Hash + '_ {
    let OwnerReference { api_version, kind, name, uid, controller, block_owner_deletion } = owner;
    (api_version, kind, name, uid, controller, block_owner_deletion)
}
