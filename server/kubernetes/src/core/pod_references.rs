//! Finds the API objects that a pod or a persistent volume references.
//!
//! References are found by names of types and fields, not by a list of paths. Fields that are added
//! later are found as well (CVE-2024-3177). The names are compared once per type: a
//! `ReferencePlan` then visits only the fields with references.

mod plan;
mod reference;

use std::sync::OnceLock;

use generated::core::v1::{PersistentVolumeSpec, PodSpec};
use machinery::reflect::{Ref, Struct};

use plan::ReferencePlan;
pub use reference::{PodReference, ReferenceKind};

/// Visits the references of a pod spec in field order (upstream: `VisitPodSecretNames`,
/// `VisitPodConfigmapNames` and others). Empty names are omitted.
pub fn visit_pod<'o>(spec: &'o PodSpec, visit: &mut dyn FnMut(&PodReference<'o, '_>)) {
    static PLAN: OnceLock<ReferencePlan> = OnceLock::new();
    PLAN.get_or_init(|| ReferencePlan::of(PodSpec::def())).visit(Ref::of(spec), visit);
}

/// Visits the references of a persistent volume (upstream: `VisitPVSecretNames`). Empty names are
/// omitted.
pub fn visit_volume<'o>(spec: &'o PersistentVolumeSpec, visit: &mut dyn FnMut(&PodReference<'o, '_>)) {
    static PLAN: OnceLock<ReferencePlan> = OnceLock::new();
    PLAN.get_or_init(|| ReferencePlan::of(PersistentVolumeSpec::def())).visit(Ref::of(spec), visit);
}

#[cfg(test)]
mod tests;
