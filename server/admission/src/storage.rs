//! `DefaultStorageClass`, `StorageObjectInUseProtection` and `PersistentVolumeClaimResize`.

use endpoints::AdmissionAttributes;
use generated::core::v1::{PersistentVolumeClaim, persistent_volume_claim_phase, resource_name};
use generated::storage::v1::StorageClass;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{Stores, meta_mut};

use super::lookup::{find, find_all};
use super::{body, classes, forbidden};

const DEFAULT: [&str; 2] =
    ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
const CLASSES: (&str, &str) = ("storage.k8s.io", "storageclasses");
/// The annotation that set the class of a claim before the field `storageClassName` existed.
const CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";

/// Sets the default class of a claim without a class.
pub async fn default_class(
    stores: &Stores,
    attributes: &AdmissionAttributes,
    object: &mut Owned,
) -> Result<(), Status> {
    let Some(claim) = object.downcast_mut::<PersistentVolumeClaim>() else { return Ok(()) };
    if claim.spec.storage_class_name.is_some() || claim.metadata.annotations.contains_key(CLASS_ANNOTATION) {
        return Ok(());
    }
    let found = find_all::<StorageClass>(stores, attributes, CLASSES, "").await?;
    claim.spec.storage_class_name = classes::newest_default(found.iter().map(|c| &c.metadata), &DEFAULT);
    Ok(())
}

/// Adds the finalizer that delays deletion while the object is in use.
pub fn protect(object: &mut Owned, finalizer: &str) {
    if let Some(meta) = meta_mut(object)
        && !meta.finalizers.iter().any(|f| f == finalizer)
    {
        meta.finalizers.push(finalizer.into());
    }
}

/// Returns the class of a claim (`GetPersistentVolumeClaimClass`).
fn class_of(claim: &PersistentVolumeClaim) -> Option<&String> {
    claim.metadata.annotations.get(CLASS_ANNOTATION).or(claim.spec.storage_class_name.as_ref())
}

/// Rejects expansions that the storage class does not allow (`PersistentVolumeClaimResize`).
pub async fn check_resize(
    stores: &Stores,
    attributes: &AdmissionAttributes,
    object: &Owned,
    old: Option<&Owned>,
) -> Result<(), Status> {
    let new = body::<PersistentVolumeClaim>(object)?;
    let Some(old) = old.and_then(Owned::downcast_ref::<PersistentVolumeClaim>) else { return Ok(()) };
    let size = |claim: &PersistentVolumeClaim| {
        claim.spec.resources.requests.get(resource_name::STORAGE).cloned().unwrap_or_default()
    };
    if size(new) <= size(old) {
        return Ok(());
    }
    if old.status.phase != persistent_volume_claim_phase::BOUND {
        return Err(forbidden(attributes, "Only bound persistent volume claims can be expanded"));
    }
    let class = match class_of(new).filter(|class| !class.is_empty() && class_of(old) == Some(class)) {
        Some(class) => find::<StorageClass>(stores, attributes, CLASSES, ("", class)).await?,
        None => None,
    };
    if class.is_some_and(|class| class.allow_volume_expansion == Some(true)) {
        return Ok(());
    }
    const WHY: &str = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";
    Err(forbidden(attributes, WHY))
}
