//! Classes of storage, and classes of volume attributes.

use std::collections::{BTreeMap, BTreeSet};

use apimachinery::hatches::meta::{validate_label_name, validate_whole_object_meta, validate_whole_object_meta_update};
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{self, NameRule};
use machinery::hooks::{Context, Validation};

use super::IMMUTABLE;
use crate::core::v1::{TopologySelectorLabelRequirement, TopologySelectorTerm};
use crate::hatches::core::warnings::node_labels::deprecation;
use crate::storage::v1::{StorageClass, VolumeAttributesClass};

/// Keys and values together, in bytes.
const MAX_PARAMETERS_SIZE: usize = 256 * 1024;
const MAX_PARAMETERS: usize = 512;

const BINDING_MODES: [&str; 2] = ["Immediate", "WaitForFirstConsumer"];
const RECLAIM_POLICIES: [&str; 2] = ["Delete", "Retain"];

/// `ValidateStorageClass`, `ValidateStorageClassUpdate`
pub fn validate_storage_class(v: &mut Validation<'_>, path: &Path<'_>, new: &StorageClass, old: Option<&StorageClass>) {
    validate_provisioner(v, &path.child("provisioner"), &new.provisioner);
    validate_parameters(v, &path.child("parameters"), &new.parameters);
    if let Some(policy) = new.reclaim_policy.as_ref().filter(|policy| !policy.is_empty()) {
        v.one_of(&path.child("reclaimPolicy"), policy, &RECLAIM_POLICIES);
    }
    let mode = path.child("volumeBindingMode");
    match &new.volume_binding_mode {
        None => v.required(&mode, ""),
        Some(said) => v.one_of(&mode, said, &BINDING_MODES),
    }
    validate_topologies(v, &path.child("allowedTopologies"), &new.allowed_topologies);
    if let Some(old) = old {
        validate_whole_object_meta_update(v, &new.metadata, &old.metadata);
        validate_change(v, path, new, old);
    }
}

fn validate_change(v: &mut Validation<'_>, path: &Path<'_>, new: &StorageClass, old: &StorageClass) {
    if new.parameters != old.parameters {
        v.invalid(&path.child("parameters"), BadValue::string_map(&new.parameters), IMMUTABLE);
    }
    if new.provisioner != old.provisioner {
        v.invalid(&path.child("provisioner"), &new.provisioner, IMMUTABLE);
    }
    let fields = [
        ("reclaimPolicy", &new.reclaim_policy, &old.reclaim_policy),
        ("volumeBindingMode", &new.volume_binding_mode, &old.volume_binding_mode),
    ];
    for (field, new, old) in fields {
        if new != old {
            let shown = new.as_deref().map_or(BadValue::None, BadValue::json_string);
            v.invalid(&path.child(field), shown, IMMUTABLE);
        }
    }
}

/// `validateProvisioner`: a name in any case.
fn validate_provisioner(v: &mut Validation<'_>, path: &Path<'_>, name: &str) {
    if name.is_empty() {
        return v.required(path, "");
    }
    let name = name.to_lowercase();
    v.malformed(path, &name, format::is_qualified_name(&name));
}

/// `validateParameters`
fn validate_parameters(v: &mut Validation<'_>, path: &Path<'_>, parameters: &BTreeMap<String, String>) {
    if parameters.len() > MAX_PARAMETERS {
        return v.too_long(path, MAX_PARAMETERS);
    }
    if parameters.contains_key("") {
        v.invalid(path, "", "field can not be empty.");
    }
    if parameters.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>() > MAX_PARAMETERS_SIZE {
        v.too_long(path, MAX_PARAMETERS_SIZE);
    }
}

/// What a term asks for: the values of each label.
type Asked<'t> = BTreeMap<&'t str, BTreeSet<&'t str>>;

/// Most duplicates of terms that are reported: a Status lists no more errors.
const MAX_DUPLICATES: usize = 1_000;

/// `validateAllowedTopologies`. Upstream compares each term with as many empty terms as there are terms, besides the terms before it.
fn validate_topologies(v: &mut Validation<'_>, path: &Path<'_>, terms: &[TopologySelectorTerm]) {
    let mut counts: BTreeMap<Asked<'_>, usize> = BTreeMap::from([(Asked::new(), terms.len())]);
    let mut left = MAX_DUPLICATES;
    for (index, term) in terms.iter().enumerate() {
        let path = path.index(index);
        let path = path.child("matchLabelExpressions");
        let count = counts.entry(validate_topology(v, &path, term)).or_default();
        let reported = left.min(*count);
        (0..reported).for_each(|_| v.duplicate(&path, ""));
        left -= reported;
        *count += 1;
    }
}

/// `ValidateTopologySelectorTerm`
fn validate_topology<'t>(v: &mut Validation<'_>, path: &Path<'_>, term: &'t TopologySelectorTerm) -> Asked<'t> {
    let mut asked = Asked::new();
    for (index, requirement) in term.match_label_expressions.iter().enumerate() {
        let path = path.index(index);
        let values = validate_requirement(v, &path, requirement);
        if asked.insert(requirement.key.as_str(), values).is_some() {
            v.duplicate(&path.child("key"), &requirement.key);
        }
    }
    asked
}

fn validate_requirement<'t>(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    requirement: &'t TopologySelectorLabelRequirement,
) -> BTreeSet<&'t str> {
    let mut seen = BTreeSet::new();
    let values = path.child("values");
    if requirement.values.is_empty() {
        v.required(&values, "");
    }
    for (index, value) in requirement.values.iter().enumerate() {
        if !seen.insert(value.as_str()) {
            v.duplicate(&values.index(index), value);
        }
    }
    validate_label_name(v, &path.child("key"), &requirement.key);
    seen
}

/// `GetWarningsForStorageClass`
pub fn warn_storage_class(_: &Context, new: &StorageClass, _: Option<&StorageClass>) -> Vec<String> {
    let path = Path::new("allowedTopologies");
    let mut warnings = Vec::new();
    for (index, term) in new.allowed_topologies.iter().enumerate() {
        let path = path.index(index);
        let path = path.child("matchLabelExpressions");
        for (index, requirement) in term.match_label_expressions.iter().enumerate() {
            let warning = deprecation(&requirement.key);
            warnings.extend(warning.map(|text| format!("{}: {text}", path.index(index).child("key"))));
        }
    }
    warnings
}

/// `ValidateVolumeAttributesClass`, `ValidateVolumeAttributesClassUpdate`
pub fn validate_volume_attributes_class(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &VolumeAttributesClass,
    old: Option<&VolumeAttributesClass>,
) {
    let (driver, parameters) = (path.child("driverName"), path.child("parameters"));
    if let Some(old) = old {
        if new.driver_name != old.driver_name {
            v.forbidden(&driver, "updates to driverName are forbidden.");
        }
        if new.parameters != old.parameters {
            v.forbidden(&parameters, "updates to parameters are forbidden.");
        }
        validate_whole_object_meta(v, &new.metadata, false, NameRule::Dns1123Subdomain);
    }
    validate_provisioner(v, &driver, &new.driver_name);
    validate_parameters(v, &parameters, &new.parameters);
    if new.parameters.is_empty() {
        v.required(&parameters, "must contain at least one key/value pair");
    }
}
