//! Containers added to a pod to debug it: they stay as they are. By hand: lists are compared by name.

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::scalar::go_text::quote;

use super::annotations::{MIRROR, validate_annotations_change};
use super::options::PodOptions;
use super::pod::validate_contents;
use crate::core::internal::internal_diff;
use generated::core::v1::Pod;

/// `ValidatePodEphemeralContainersUpdate`
pub(super) fn validate_ephemeral_containers_change(v: &mut Validation<'_>, new: &Pod, old: &Pod, options: &PodOptions) {
    if old.metadata.annotations.contains_key(MIRROR) {
        // Instead of everything else that is wrong.
        v.errors.clear();
        return v.forbidden(&Path::new(""), "static pods do not support ephemeral containers");
    }
    validate_contents(v, new, options);
    let metadata = Path::new("metadata");
    let both = (&new.metadata.annotations, &old.metadata.annotations);
    validate_annotations_change(v, &metadata.child("annotations"), both, &new.spec, options);
    let path = Path::new("spec");
    let path = path.child("ephemeralContainers");
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
