//! Classes of storage, and classes of volume attributes.

use std::collections::{BTreeMap, BTreeSet};

use machinery::field_path::Path;
use machinery::hooks::{Context, Validation};
use meta::validate_label_name;

use crate::core::warnings::node_labels::deprecation;
use generated::core::v1::{TopologySelectorLabelRequirement, TopologySelectorTerm};
use generated::storage::v1::{StorageClass, VolumeAttributesClass};

/// Keys and values together, in bytes.
const MAX_PARAMETERS_SIZE: usize = 256 * 1024;
const MAX_PARAMETERS: usize = 512;

/// The parameters of a class (`validateParameters`).
pub fn validate_class_parameters(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &StorageClass,
    _: Option<&StorageClass>,
) {
    validate_parameters(v, &path.child("parameters"), &new.parameters);
}

/// Where volumes of a class may be (`validateAllowedTopologies`).
pub fn validate_class_topologies(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &StorageClass,
    _: Option<&StorageClass>,
) {
    validate_topologies(v, &path.child("allowedTopologies"), &new.allowed_topologies);
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

/// The parameters of a class of attributes.
pub fn validate_attributes(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &VolumeAttributesClass,
    _: Option<&VolumeAttributesClass>,
) {
    validate_parameters(v, &path.child("parameters"), &new.parameters);
}
