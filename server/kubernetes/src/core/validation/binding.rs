//! Which node a pod is put on.

use machinery::field_path::Path;
use machinery::hooks::Validation;

use generated::core::v1::Binding;

/// `ValidatePodBinding`
pub fn validate_binding(v: &mut Validation<'_>, _: &Path<'_>, binding: &Binding, _: Option<&Binding>) {
    let path = Path::new("target");
    if !["", "Node"].contains(&binding.target.kind.as_str()) {
        v.not_supported(&path.child("kind"), &binding.target.kind, &["Node", "<empty>"]);
    }
    v.filled(&path.child("name"), &binding.target.name);
}
