//! Replica sets.

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use super::selector::{usable_selector, validate_template};
use crate::core::PodOptions;
use generated::apps::v1::ReplicaSetSpec;

/// By hand: what is stored decides what templates may hold, and labels are compared with the selector.
pub fn validate_replica_set_pods(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &ReplicaSetSpec,
    old: Option<&ReplicaSetSpec>,
) {
    let options = PodOptions::of_template(v.context, old.map(|old| &old.template));
    let refusal = "invalid label selector";
    if let Some(selector) = usable_selector(v, &path.child("selector"), new.selector.as_deref(), refusal) {
        validate_template(v, &path.child("template"), &new.template, &selector, &options);
        v.checks_of("pods", path, Ref::of(new), None);
    }
}
