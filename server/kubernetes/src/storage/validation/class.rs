//! Validation of storage classes and volume attributes classes.

use std::collections::{BTreeMap, BTreeSet};

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::reflect::Ref;

use generated::core::v1::TopologySelectorTerm;
use generated::storage::v1::{StorageClass, VolumeAttributesClass};

/// Maximum total size of keys and values, in bytes.
const MAX_PARAMETERS_SIZE: usize = 256 * 1024;
const MAX_PARAMETERS: usize = 512;
/// Maximum number of reported duplicates of terms: a Status lists no more errors.
const MAX_DUPLICATES: usize = 1_000;

/// Validates the parameters of a storage class.
pub fn validate_class_parameters(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &StorageClass,
    _: Option<&StorageClass>,
) {
    validate_parameters(v, path, &new.parameters);
}

/// Validates the parameters of a volume attributes class.
pub fn validate_attributes(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &VolumeAttributesClass,
    _: Option<&VolumeAttributesClass>,
) {
    validate_parameters(v, path, &new.parameters);
}

/// `validateParameters`. Hand-written, because too many parameters are reported as too long, which ends
/// the validation.
fn validate_parameters(v: &mut Validation<'_>, path: &Path<'_>, parameters: &BTreeMap<String, String>) {
    let path = path.child(json_name!(StorageClass.parameters));
    if parameters.len() > MAX_PARAMETERS {
        return v.too_long(&path, MAX_PARAMETERS);
    }
    if parameters.contains_key("") {
        v.invalid(&path, "", "field can not be empty.");
    }
    if parameters.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>() > MAX_PARAMETERS_SIZE {
        v.too_long(&path, MAX_PARAMETERS_SIZE);
    }
}

/// `validateAllowedTopologies`. Hand-written, because terms are equal regardless of the order of their
/// requirements. Besides the preceding terms, upstream compares each term with as many empty terms as
/// there are terms.
pub fn validate_class_topologies(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &StorageClass,
    _: Option<&StorageClass>,
) {
    let (path, terms) = (path.child(json_name!(StorageClass.allowed_topologies)), &new.allowed_topologies);
    let mut counts = BTreeMap::from([(BTreeMap::new(), terms.len())]);
    let mut left = MAX_DUPLICATES;
    for (index, term) in terms.iter().enumerate() {
        let path = path.index(index);
        v.checks(&path, Ref::of(term), None);
        let count = counts.entry(values_by_key(term)).or_default();
        let reported = left.min(*count);
        (0..reported)
            .for_each(|_| v.duplicate(&path.child(json_name!(TopologySelectorTerm.match_label_expressions)), ""));
        left -= reported;
        *count += 1;
    }
}

fn values_by_key(term: &TopologySelectorTerm) -> BTreeMap<&str, BTreeSet<&str>> {
    let requirements = term.match_label_expressions.iter();
    requirements.map(|one| (one.key.as_str(), one.values.iter().map(String::as_str).collect())).collect()
}
