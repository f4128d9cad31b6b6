//! Hand-written validation of whole pods in updates of subresources.

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::scalar::go_text::quote;

use super::annotations::MIRROR;
use super::pod_resize::validate_resize;
use crate::core::internal::internal_diff;
use generated::core::v1::{Pod, PodSpec, os_name};

/// `ValidatePodResize`, `ValidatePodEphemeralContainersUpdate`. Hand-written, because some errors
/// replace all others.
pub fn validate_pod(v: &mut Validation<'_>, _: &Path<'_>, new: &Pod, old: Option<&Pod>) {
    let Some(old) = old else { return };
    let is_static = old.metadata.annotations.contains_key(MIRROR);
    let is_of_windows = old.spec.os.as_deref().is_some_and(|os| os.name == os_name::WINDOWS);
    let refusal = match v.context.subresource.as_str() {
        "resize" if is_static => "static pods cannot be resized",
        "resize" if is_of_windows => "windows pods cannot be resized",
        "ephemeralcontainers" if is_static => "static pods do not support ephemeral containers",
        "resize" => return validate_resize(v, new, old),
        "ephemeralcontainers" => return validate_ephemeral_containers_change(v, new, old),
        _ => return,
    };
    v.errors.clear();
    v.forbidden(&Path::new(""), refusal);
}

/// Checks that existing ephemeral containers are unchanged. Hand-written, because lists are compared by
/// name.
fn validate_ephemeral_containers_change(v: &mut Validation<'_>, new: &Pod, old: &Pod) {
    let path = Path::new(json_name!(Pod.spec));
    let path = path.child(json_name!(PodSpec.ephemeral_containers));
    for old in &old.spec.ephemeral_containers {
        let name = &old.ephemeral_container_common.name;
        let mut sent = new.spec.ephemeral_containers.iter().enumerate();
        match sent.rfind(|(_, new)| new.ephemeral_container_common.name == *name) {
            None => v.forbidden(&path, format!("existing ephemeral containers {} may not be removed\n", quote(name))),
            Some((index, new)) if new != old => {
                let change = internal_diff(&v.context.sent, &path.index(index), old, new);
                let detail = format!("existing ephemeral containers {} may not be changed\n{change}", quote(name));
                v.forbidden(&path, detail);
            }
            Some(_) => {}
        }
    }
}
