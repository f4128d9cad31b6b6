//! Namespaces: the finalizer that keeps one until its content is gone, and who may change it.

use generated::core::v1::{Namespace, namespace_phase};
use machinery::reflect::{Owned, Ref};
use registry::Context;

/// Removed by the namespace controller once the content is gone (`v1.FinalizerKubernetes`).
pub const FINALIZER: &str = "kubernetes";

/// Mirrors `namespaceStrategy.PrepareForCreate`.
pub fn create(_: &Context, object: &mut Owned, _: Ref<'_>) {
    let Some(namespace) = object.downcast_mut::<Namespace>() else { return };
    namespace.status.phase = namespace_phase::ACTIVE.into();
    if !namespace.spec.finalizers.iter().any(|f| f == FINALIZER) {
        namespace.spec.finalizers.push(FINALIZER.into());
    }
}

/// Finalizers change through `finalize` alone, which changes nothing else.
pub fn update(context: &Context, new: &mut Owned, old: Ref<'_>) {
    let (Some(new), Some(old)) = (new.downcast_mut::<Namespace>(), old.downcast::<Namespace>()) else { return };
    if context.subresource == "finalize" {
        new.status = old.status.clone();
    } else {
        new.spec.finalizers = old.spec.finalizers.clone();
    }
}
