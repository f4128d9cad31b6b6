//! Strategy of persistent volume claims: synchronizes `dataSource` and `dataSourceRef`.

use machinery::features;
use machinery::hooks::WriteContext;

use generated::core::v1::{
    PersistentVolumeClaim, PersistentVolumeClaimSpec, PersistentVolumeClaimStatus, TypedLocalObjectReference,
    TypedObjectReference, resource_name,
};

const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";
const SNAPSHOTS: &str = "snapshot.storage.k8s.io";

/// Mirrors `persistentvolumeclaimStrategy.PrepareForCreate`.
pub fn create_claim(context: &WriteContext, claim: &mut PersistentVolumeClaim, _: Option<&PersistentVolumeClaim>) {
    claim.status = PersistentVolumeClaimStatus::default();
    drop_foreign_source(context, &mut claim.spec, None);
    drop_unknown_source(&mut claim.spec, None);
    agree(&mut claim.spec);
}

/// Mirrors `persistentvolumeclaimStrategy.PrepareForUpdate`.
pub fn update_claim(context: &WriteContext, new: &mut PersistentVolumeClaim, old: &PersistentVolumeClaim) {
    if context.subresource.is_empty() {
        let mut before = old.spec.clone();
        agree(&mut before);
        drop_foreign_source(context, &mut new.spec, Some(&before));
        drop_unknown_source(&mut new.spec, Some(&before));
        agree(&mut new.spec);
    }
}

/// Drops sources in other namespaces unless the feature gate is enabled (`DropDisabledFields`).
fn drop_foreign_source(
    context: &WriteContext,
    spec: &mut PersistentVolumeClaimSpec,
    old: Option<&PersistentVolumeClaimSpec>,
) {
    let namespace = spec.data_source_ref.as_deref().and_then(|source| source.namespace.as_deref());
    let in_use = old.is_some_and(|old| old.data_source_ref.is_some());
    if namespace.is_some_and(|n| !n.is_empty()) && !context.enabled(features::CrossNamespaceVolumeDataSource) && !in_use
    {
        spec.data_source_ref = None;
    }
}

/// Drops a `dataSource` of an unknown kind. Without `dataSourceRef` only claims and snapshots are
/// allowed; older servers ignored anything else (`EnforceDataSourceBackwardsCompatibility`).
fn drop_unknown_source(spec: &mut PersistentVolumeClaimSpec, old: Option<&PersistentVolumeClaimSpec>) {
    let in_use = old.is_some_and(|old| old.data_source.is_some() || old.data_source_ref.is_some());
    if in_use || spec.data_source_ref.is_some() {
        return;
    }
    let known = |source: &TypedLocalObjectReference| {
        let named = (source.api_group.as_deref().unwrap_or_default(), source.kind.as_str());
        matches!(named, ("", "PersistentVolumeClaim") | (SNAPSHOTS, "VolumeSnapshot"))
    };
    if !spec.data_source.as_deref().is_some_and(known) {
        spec.data_source = None;
    }
}

/// `NormalizeDataSources`
fn agree(spec: &mut PersistentVolumeClaimSpec) {
    match (&spec.data_source, &spec.data_source_ref) {
        (Some(source), None) => {
            let TypedLocalObjectReference { api_group, kind, name } = (**source).clone();
            spec.data_source_ref = Some(Box::new(TypedObjectReference { api_group, kind, name, namespace: None }));
        }
        (None, Some(source)) if source.namespace.as_deref().unwrap_or("").is_empty() => {
            let TypedObjectReference { api_group, kind, name, .. } = (**source).clone();
            spec.data_source = Some(Box::new(TypedLocalObjectReference { api_group, kind, name }));
        }
        _ => {}
    }
}

/// Mirrors `persistentvolumeclaim.GetWarningsForPersistentVolumeClaim`.
pub fn warn_claim(
    context: &WriteContext,
    claim: &PersistentVolumeClaim,
    _: Option<&PersistentVolumeClaim>,
) -> Vec<String> {
    let mut out = Vec::new();
    if context.subresource == "status" {
        return out;
    }
    if claim.metadata.annotations.contains_key(BETA_CLASS) {
        out.push(format!(
            "metadata.annotations[{BETA_CLASS}]: deprecated since v1.8; use \"storageClassName\" attribute instead"
        ));
    }
    warn_claim_spec("spec", &claim.spec, &mut out);
    out
}

/// `GetWarningsForPersistentVolumeClaimSpec` for the spec at this path.
pub fn warn_claim_spec(path: &str, spec: &PersistentVolumeClaimSpec, out: &mut Vec<String>) {
    for (field, amounts) in [("requests", &spec.resources.requests), ("limits", &spec.resources.limits)] {
        if let Some(size) = amounts.get(resource_name::STORAGE).filter(|size| size.milli_value() % 1000 != 0) {
            out.push(format!(
                "{path}.resources.{field}[storage]: fractional byte value \"{size}\" is invalid, must be an integer"
            ));
        }
    }
}
