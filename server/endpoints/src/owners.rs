//! Owner references that are said twice count once (`dedupOwnerReferencesAndAddWarning`).

use machinery::reflect::{Owned, Ref};
use registry::meta_mut;
use serving::warnings::Warnings;

/// When an object is looked at, which its writer is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// As its writer sent it.
    Sent,
    /// As admission left it.
    Admitted,
}

/// Drops repeated owner references and warns of them.
pub fn deduplicate(object: &mut Owned, warnings: &Warnings, moment: Moment) {
    let Some(meta) = meta_mut(object) else { return };
    let (mut kept, mut repeated) = (Vec::new(), Vec::new());
    for owner in std::mem::take(&mut meta.owner_references) {
        if kept.iter().any(|known| Ref::of(known) == Ref::of(&owner)) {
            repeated.push(owner.uid);
        } else {
            kept.push(owner);
        }
    }
    meta.owner_references = kept;
    if repeated.is_empty() {
        return;
    }
    let when = if moment == Moment::Admitted { " after mutating admission happens" } else { "" };
    warnings.add(&format!(
        ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
        repeated.join(", ")
    ));
}
