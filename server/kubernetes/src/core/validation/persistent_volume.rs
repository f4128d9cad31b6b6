//! Persistent volumes.

use machinery::features;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{NameRule, is_label_value};
use machinery::hooks::Validation;
use machinery::options;
use machinery::reflect::Ref;
use meta::validate_whole_object_meta;

use super::resources::validate_positive_quantity;
use crate::core::internal::{internal_diff, internal_value};
use generated::core::v1::{
    NodeSelector, NodeSelectorRequirement, PersistentVolume, PersistentVolumeSpec, VolumeNodeAffinity,
};

/// Labels of nodes that got another name; a selector may follow.
const RENAMED_LABELS: [(&str, &str); 5] = [
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("beta.kubernetes.io/os", "kubernetes.io/os"),
    ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
    ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
];

/// `ValidatePersistentVolume`, `ValidatePersistentVolumeUpdate`; upstream looks at the whole of a changed volume twice.
pub fn validate_persistent_volume(
    v: &mut Validation<'_>,
    _: &Path<'_>,
    new: &PersistentVolume,
    old: Option<&PersistentVolume>,
) {
    if v.context.subresource == "status" {
        return;
    }
    let path = Path::new("spec");
    let any_values = old.is_some_and(|old| has_invalid_labels(&old.spec));
    validate_persistent_volume_spec(v, &path, &new.spec, &new.metadata.name, any_values);
    if let Some(old) = old {
        // Upstream's update begins with all that it asks of a new volume, after it was asked once.
        validate_whole_object_meta(v, &new.metadata, false, NameRule::Dns1123Subdomain);
        validate_persistent_volume_spec(v, &path, &new.spec, &new.metadata.name, any_values);
        validate_change(v, &path, &new.spec, &old.spec);
    }
}

/// Whether the stored node affinity has values that no label can have.
fn has_invalid_labels(spec: &PersistentVolumeSpec) -> bool {
    let terms = required(spec).into_iter().flat_map(|selector| &selector.node_selector_terms);
    let values = terms.flat_map(|term| &term.match_expressions).flat_map(|requirement| &requirement.values);
    values.into_iter().any(|value| !is_label_value(value).is_empty())
}

fn required(spec: &PersistentVolumeSpec) -> Option<&NodeSelector> {
    spec.node_affinity.as_deref()?.required.as_deref()
}

/// `ValidatePersistentVolumeSpec` of a volume of this name; `any_values`: labels are not looked at.
pub fn validate_persistent_volume_spec(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &PersistentVolumeSpec,
    name: &str,
    any_values: bool,
) {
    v.set_option_to(options::OBJECT_NAME, Some(name.to_string()));
    v.set_option(options::ANY_VALUES_OF_NODES, any_values);
    v.checks(path, Ref::of(spec), None);
}

/// A volume that is the whole file system of a node is not emptied. By hand: paths are cleaned as Go does.
pub fn validate_recycled_root(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &PersistentVolumeSpec,
    _: Option<&PersistentVolumeSpec>,
) {
    let host_path = spec.persistent_volume_source.host_path.as_deref();
    if host_path.is_some_and(|host_path| host_path.path.starts_with('/') && is_clean_root(&host_path.path)) {
        let detail = "may not be 'recycle' for a hostPath mount of '/'";
        v.forbidden(&path.child("persistentVolumeReclaimPolicy"), detail);
    }
}

/// Whether Go's `path.Clean` makes `/` of an absolute path.
fn is_clean_root(path: &str) -> bool {
    let depth = path.split('/').fold(0usize, |depth, part| match part {
        "" | "." => depth,
        ".." => depth.saturating_sub(1),
        _ => depth + 1,
    });
    depth == 0
}

/// By hand: the message shows the whole list as Go does.
pub fn validate_volume_capacity(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &PersistentVolumeSpec,
    _: Option<&PersistentVolumeSpec>,
) {
    let path = &path.child("capacity");
    if spec.capacity.is_empty() {
        v.required(path, "");
    }
    if !spec.capacity.contains_key("storage") || spec.capacity.len() > 1 {
        let shown: Vec<String> = spec.capacity.iter().map(|(name, amount)| format!("{name:?}:\"{amount}\"")).collect();
        let shown = if shown.is_empty() { BadValue::None } else { BadValue::Json(format!("{{{}}}", shown.join(","))) };
        v.not_supported(path, shown, &["storage"]);
    }
    for (name, amount) in &spec.capacity {
        let path = path.key(name);
        if amount.value() < 0 {
            v.invalid(&path, amount.value(), "must be a valid resource quantity");
        }
        validate_positive_quantity(v, &path, amount);
    }
}

fn validate_change(v: &mut Validation<'_>, path: &Path<'_>, new: &PersistentVolumeSpec, old: &PersistentVolumeSpec) {
    let mut source = new.persistent_volume_source.clone();
    // Drivers may be given what they need to grow a volume later.
    if let (Some(csi), Some(before)) = (&mut source.csi, &old.persistent_volume_source.csi)
        && before.controller_expand_secret_ref.is_none()
    {
        csi.controller_expand_secret_ref = None;
    }
    if Ref::of(&source) != Ref::of(&old.persistent_volume_source) {
        let changes = internal_diff(&v.context.sent, path, &old.persistent_volume_source, &source);
        let detail = format!("spec.persistentvolumesource is immutable after creation\n{changes}");
        v.forbidden(&path.child("persistentvolumesource"), detail);
    }
    v.checks_of("change", path, Ref::of(new), Some(Ref::of(old)));
    if let Some(before) = old.node_affinity.as_deref().filter(|_| !v.context.enabled(features::MutablePVNodeAffinity)) {
        let now = new.node_affinity.as_deref();
        if !now.is_some_and(|now| is_renamed(now, before)) {
            let detail = "field is immutable, except for updating from beta label to GA";
            v.invalid(&Path::new("nodeAffinity"), now.map_or(BadValue::None, internal_value), detail);
        }
    }
    v.checks_of("change_of_class", path, Ref::of(new), Some(Ref::of(old)));
}

/// Whether nothing changed but labels that have another name now (`validatePvNodeAffinity`).
fn is_renamed(new: &VolumeNodeAffinity, old: &VolumeNodeAffinity) -> bool {
    let mut expected = old.clone();
    let requirements = |affinity: &VolumeNodeAffinity| -> Vec<NodeSelectorRequirement> {
        let terms = affinity.required.iter().flat_map(|selector| &selector.node_selector_terms);
        terms.flat_map(|term| term.match_expressions.iter().chain(&term.match_fields)).cloned().collect()
    };
    let terms = expected.required.iter_mut().flat_map(|selector| &mut selector.node_selector_terms);
    let before = terms.flat_map(|term| term.match_expressions.iter_mut().chain(&mut term.match_fields));
    for (before, now) in before.zip(requirements(new)) {
        let renamed = RENAMED_LABELS.iter().find(|(old, _)| *old == before.key).map_or("", |(_, new)| new);
        // Upstream takes a key that is empty now, and so refused, for the new name of any other.
        if renamed == now.key {
            before.key = now.key;
        }
    }
    Ref::of(&expected) == Ref::of(new)
}
