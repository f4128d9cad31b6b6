//! Strategy of namespaces: the finalizer that delays removal until the content is deleted, and the
//! subresources that may change it.

use machinery::format::is_dns1123_label;
use machinery::hooks::{Propagation, WriteContext};

use super::super::service::NAMESPACE_NAME;
use generated::core::v1::{Namespace, finalizer_name, namespace_phase};

/// The namespace controller removes it once the content is deleted (`v1.FinalizerKubernetes`).
const FINALIZER: &str = finalizer_name::KUBERNETES;
/// Finalizers of the garbage collector (`metav1.FinalizerOrphanDependents`, `metav1.FinalizerDeleteDependents`).
const ORPHAN: &str = "orphan";
const DELETE_DEPENDENTS: &str = "foregroundDeletion";

/// Mirrors `namespaceStrategy.PrepareForCreate`, and `Canonicalize` for a generated name, which is not known when
/// defaults are applied.
pub fn create_namespace(_: &WriteContext, namespace: &mut Namespace, _: Option<&Namespace>) {
    let metadata = &mut namespace.metadata;
    if !metadata.generate_name.is_empty() && is_dns1123_label(&metadata.name).is_empty() {
        metadata.labels.insert(NAMESPACE_NAME.to_owned(), metadata.name.clone());
    }
    namespace.status.phase = namespace_phase::ACTIVE.into();
    if !namespace.spec.finalizers.iter().any(|f| f == FINALIZER) {
        namespace.spec.finalizers.push(FINALIZER.into());
    }
}

/// Only updates through `finalize` change finalizers, and they change nothing else.
pub fn update_namespace(context: &WriteContext, new: &mut Namespace, old: &Namespace) {
    if context.subresource == "finalize" {
        new.status = old.status.clone();
    } else {
        new.spec.finalizers = old.spec.finalizers.clone();
    }
}

/// Mirrors the namespaces' `REST.Delete`: marks the namespace as terminating; the namespace controller
/// deletes its content before its removal.
pub fn delete_namespace(context: &WriteContext, namespace: &mut Namespace) {
    namespace.status.phase = namespace_phase::TERMINATING.into();
    let finalizers = &mut namespace.metadata.finalizers;
    let of_propagation = [
        (ORPHAN, &[Propagation::Orphan][..]),
        (DELETE_DEPENDENTS, &[Propagation::Foreground, Propagation::NotOrphan][..]),
    ];
    for (finalizer, when) in of_propagation {
        let had = finalizers.iter().any(|f| f == finalizer);
        let wanted = context.propagation.map_or(had, |propagation| when.contains(&propagation));
        match (had, wanted) {
            (true, false) => finalizers.retain(|f| f != finalizer),
            (false, true) => finalizers.push(finalizer.to_owned()),
            _ => {}
        }
    }
}

/// Whether finalizers of the spec block the removal of a namespace, because it still has content
/// (`ShouldDeleteNamespaceDuringUpdate`).
pub fn namespace_has_content(namespace: &Namespace) -> bool {
    !namespace.spec.finalizers.is_empty()
}
