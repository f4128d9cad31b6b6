//! Finds the API objects that a pod or a persistent volume refers to.
//!
//! References are found by the names of types and fields, not by a list of places. A field that is added to a
//! container or to a volume later is found as well (CVE-2024-3177). The names are compared once per type: a
//! [`Plan`] then visits only the fields that hold references.

mod plan;

use std::sync::OnceLock;

use generated::core::v1::{PersistentVolumeSpec, PodSpec};
use machinery::field_path::Path;
use machinery::reflect::{Ref, Struct};

use plan::Plan;

/// The kind of an object that is referred to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReferenceKind {
    Secret,
    ConfigMap,
    PersistentVolumeClaim,
    ServiceAccount,
    ResourceClaim,
}

/// A reference: what it names, and the field that names it.
#[derive(Clone, Copy, Debug)]
pub struct Reference<'o, 'p> {
    pub kind: ReferenceKind,
    /// Never empty.
    pub name: &'o str,
    /// Empty when the reference names no namespace.
    pub namespace: &'o str,
    /// JSON name of the field that the reference is, such as `secretRef`, `imagePullSecrets` or `serviceAccountName`.
    pub field: &'static str,
    /// Path of the name below the visited object, such as `volumes[0].secret.secretName`.
    pub path: Path<'p>,
}

/// Visits what a pod's specification refers to, in order of fields (upstream: `VisitPodSecretNames`,
/// `VisitPodConfigmapNames` and the like). Empty names are left out.
pub fn visit_pod<'o>(spec: &'o PodSpec, visit: &mut dyn FnMut(&Reference<'o, '_>)) {
    static PLAN: OnceLock<Plan> = OnceLock::new();
    PLAN.get_or_init(|| Plan::of(PodSpec::def())).visit(Ref::of(spec), visit);
}

/// Visits what a persistent volume refers to (upstream: `VisitPVSecretNames`). Empty names are left out.
pub fn visit_volume<'o>(spec: &'o PersistentVolumeSpec, visit: &mut dyn FnMut(&Reference<'o, '_>)) {
    static PLAN: OnceLock<Plan> = OnceLock::new();
    PLAN.get_or_init(|| Plan::of(PersistentVolumeSpec::def())).visit(Ref::of(spec), visit);
}

#[cfg(test)]
mod tests;
