//! A reference of a pod to an object.

use machinery::field_path::Path;

/// The kind of a referenced object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReferenceKind {
    Secret,
    ConfigMap,
    PersistentVolumeClaim,
    ServiceAccount,
    ResourceClaim,
}

/// A reference: the referenced object and the field of the reference.
#[derive(Clone, Copy, Debug)]
pub struct PodReference<'o, 'p> {
    pub kind: ReferenceKind,
    /// Never empty.
    pub name: &'o str,
    /// Empty when the reference names no namespace.
    pub namespace: &'o str,
    /// JSON name of the reference field, such as `secretRef`, `imagePullSecrets` or
    /// `serviceAccountName`.
    pub field: &'static str,
    /// Path of the name below the visited object, such as `volumes[0].secret.secretName`.
    pub path: Path<'p>,
}
