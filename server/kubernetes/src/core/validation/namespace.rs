//! Namespaces.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::is_qualified_name;
use machinery::hooks::Validation;

use generated::core::v1::{Namespace, namespace_phase};
use meta::validate_qualified_finalizer;

/// `ValidateNamespace`, `ValidateNamespaceStatusUpdate`, `ValidateNamespaceFinalizeUpdate`
pub fn validate_namespace(v: &mut Validation<'_>, _: &Path<'_>, namespace: &Namespace, _: Option<&Namespace>) {
    let path = Path::new("spec");
    let path = path.child("finalizers");
    for (index, finalizer) in namespace.spec.finalizers.iter().enumerate() {
        match v.context.subresource.as_str() {
            "status" => {}
            "finalize" => validate_finalizer(v, &path.index(index), finalizer),
            _ => validate_finalizer(v, &path, finalizer),
        }
    }
    if v.context.subresource == "status" {
        validate_phase(v, namespace);
    }
}

fn validate_finalizer(v: &mut Validation<'_>, path: &Path<'_>, finalizer: &str) {
    v.malformed(path, finalizer, is_qualified_name(finalizer));
    validate_qualified_finalizer(v, path, finalizer);
}

/// A namespace is terminating exactly when it is being deleted.
fn validate_phase(v: &mut Validation<'_>, namespace: &Namespace) {
    let (phase, detail) = match namespace.metadata.deletion_timestamp {
        None => (namespace_phase::ACTIVE, "may only be 'Active' if `deletionTimestamp` is empty"),
        Some(_) => (namespace_phase::TERMINATING, "may only be 'Terminating' if `deletionTimestamp` is not empty"),
    };
    if namespace.status.phase != phase {
        let path = Path::new("status");
        v.invalid(&path.child("Phase"), BadValue::json_string(&namespace.status.phase), detail);
    }
}
