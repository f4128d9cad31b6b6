//! `DefaultStorageClass` and `StorageObjectInUseProtection`.

use endpoints::Environment;
use generated::core::v1::PersistentVolumeClaim;
use generated::storage::v1::StorageClass;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::meta_mut;

use super::{all, classes};

const DEFAULT: [&str; 2] =
    ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
/// The class of a claim, before there was a field.
const CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";

/// Gives a claim that names no class the default one.
pub async fn default_class(environment: &Environment, object: &mut Owned) -> Result<(), Status> {
    let Some(claim) = object.downcast_mut::<PersistentVolumeClaim>() else { return Ok(()) };
    if claim.spec.storage_class_name.is_some() || claim.metadata.annotations.contains_key(CLASS_ANNOTATION) {
        return Ok(());
    }
    let found = all::<StorageClass>(environment, ("storage.k8s.io", "storageclasses")).await?;
    claim.spec.storage_class_name = classes::newest_default(found.iter().map(|c| &c.metadata), &DEFAULT);
    Ok(())
}

/// Adds the finalizer that keeps an object until nothing uses it.
pub fn protect(object: &mut Owned, finalizer: &str) {
    if let Some(meta) = meta_mut(object)
        && !meta.finalizers.iter().any(|f| f == finalizer)
    {
        meta.finalizers.push(finalizer.into());
    }
}
