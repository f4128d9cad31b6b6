//! Persistent volumes.

use machinery::features;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{NameRule, is_label_value};
use machinery::hooks::Validation;
use machinery::reflect::Ref;
use meta::validate_whole_object_meta;

use super::claim_spec::{VOLUME_MODES, validate_access_modes};
use super::node_selector::validate_node_selector;
use super::persistent_volume_sources::{is_root, validate_sources};
use super::resources::validate_positive_quantity;
use crate::core::internal::{internal_diff, internal_value};
use generated::core::v1::{
    NodeSelector, NodeSelectorRequirement, PersistentVolume, PersistentVolumeSpec, VolumeNodeAffinity,
    persistent_volume_mode, persistent_volume_reclaim_policy,
};

const RECLAIM_POLICIES: [&str; 3] = [
    persistent_volume_reclaim_policy::DELETE,
    persistent_volume_reclaim_policy::RECYCLE,
    persistent_volume_reclaim_policy::RETAIN,
];
const INLINE: &str = "may not be specified in the context of inline volumes";

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
    let modes = path.child("accessModes");
    if spec.access_modes.is_empty() {
        v.required(&modes, "");
    }
    validate_access_modes(v, &modes, &spec.access_modes);
    validate_capacity(v, &path.child("capacity"), spec);
    let policy = path.child("persistentVolumeReclaimPolicy");
    if !spec.persistent_volume_reclaim_policy.is_empty() {
        v.one_of(&policy, &spec.persistent_volume_reclaim_policy, &RECLAIM_POLICIES);
    }
    if let Some(affinity) = spec.node_affinity.as_deref() {
        validate_affinity(v, &path.child("nodeAffinity"), affinity, any_values);
    }
    validate_sources(v, path, spec, name);
    if is_root(spec) && spec.persistent_volume_reclaim_policy == persistent_volume_reclaim_policy::RECYCLE {
        v.forbidden(&policy, "may not be 'recycle' for a hostPath mount of '/'");
    }
    v.malformed_name(&path.child("storageClassName"), &spec.storage_class_name, NameRule::Dns1123Subdomain, false);
    if let Some(mode) = &spec.volume_mode {
        v.one_of(&path.child("volumeMode"), mode, &VOLUME_MODES);
    }
    validate_attributes_class(v, path, spec);
}

/// The spec of a volume that a VolumeAttachment carries itself.
pub fn validate_inline_volume_spec(v: &mut Validation<'_>, path: &Path<'_>, spec: &PersistentVolumeSpec) {
    if spec.claim_ref.is_some() {
        v.forbidden(&path.child("claimRef"), INLINE);
    }
    if !spec.capacity.is_empty() {
        v.forbidden(&path.child("capacity"), INLINE);
    }
    if spec.persistent_volume_source.csi.is_none() {
        v.required(&path.child("csi"), "has to be specified in the context of inline volumes");
    }
    let modes = path.child("accessModes");
    if spec.access_modes.is_empty() {
        v.required(&modes, "");
    }
    validate_access_modes(v, &modes, &spec.access_modes);
    let (policy, policy_path) = (&spec.persistent_volume_reclaim_policy, path.child("persistentVolumeReclaimPolicy"));
    if !policy.is_empty() && policy != persistent_volume_reclaim_policy::RETAIN {
        v.forbidden(&policy_path, "may only be Retain in the context of inline volumes");
    }
    if spec.node_affinity.is_some() {
        v.forbidden(&path.child("nodeAffinity"), INLINE);
    }
    validate_sources(v, path, spec, "");
    if is_root(spec) && policy == persistent_volume_reclaim_policy::RECYCLE {
        v.forbidden(&policy_path, "may not be 'recycle' for a hostPath mount of '/'");
    }
    if !spec.storage_class_name.is_empty() {
        v.forbidden(&path.child("storageClassName"), INLINE);
    }
    if spec.volume_mode.as_deref().is_some_and(|mode| mode != persistent_volume_mode::FILESYSTEM) {
        let detail = "may not specify volumeMode other than Filesystem in the context of inline volumes";
        v.forbidden(&path.child("volumeMode"), detail);
    }
    validate_attributes_class(v, path, spec);
}

fn validate_capacity(v: &mut Validation<'_>, path: &Path<'_>, spec: &PersistentVolumeSpec) {
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

fn validate_affinity(v: &mut Validation<'_>, path: &Path<'_>, affinity: &VolumeNodeAffinity, any_values: bool) {
    let path = path.child("required");
    match affinity.required.as_deref() {
        Some(selector) => validate_node_selector(v, &path, selector, any_values),
        None => v.required(&path, "must specify required node constraints"),
    }
}

fn validate_attributes_class(v: &mut Validation<'_>, path: &Path<'_>, spec: &PersistentVolumeSpec) {
    let Some(class) = &spec.volume_attributes_class_name else { return };
    let at = path.child("volumeAttributesClassName");
    match class.as_str() {
        "" => v.required(&at, "an empty string is disallowed"),
        class => v.name(&at, class, NameRule::Dns1123Subdomain),
    }
    if spec.persistent_volume_source.csi.is_none() {
        v.required(&path.child("csi"), "has to be specified when using volumeAttributesClassName");
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
    validate_volume_mode_change(v, new.volume_mode.as_deref(), old.volume_mode.as_deref());
    if let Some(before) = old.node_affinity.as_deref().filter(|_| !v.context.enabled(features::MutablePVNodeAffinity)) {
        let now = new.node_affinity.as_deref();
        if !now.is_some_and(|now| is_renamed(now, before)) {
            let detail = "field is immutable, except for updating from beta label to GA";
            v.invalid(&Path::new("nodeAffinity"), now.map_or(BadValue::None, internal_value), detail);
        }
    }
    if old.volume_attributes_class_name.is_some() && new.volume_attributes_class_name.is_none() {
        v.forbidden(&path.child("volumeAttributesClassName"), "update from non-nil value to nil is forbidden");
    }
}

/// The mode of a volume or claim stays; upstream forgets where the field stands.
pub(super) fn validate_volume_mode_change(v: &mut Validation<'_>, new: Option<&str>, old: Option<&str>) {
    if new != old {
        v.invalid(&Path::new("volumeMode"), new.map_or(BadValue::None, BadValue::json_string), "field is immutable");
    }
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
