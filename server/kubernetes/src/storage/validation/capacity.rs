//! How much storage there is for a class.

use machinery::field_path::Path;
use machinery::hooks::{Context, Validation};
use meta::{SelectorOptions, is_valid_selector, validate_label_selector_with};

use crate::core::warnings::node_labels::deprecation;
use generated::meta::v1::LabelSelector;
use generated::storage::v1::CSIStorageCapacity;

/// Which nodes have the capacity. A selector that is stored with odd values may keep such.
pub fn validate_node_topology(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &LabelSelector,
    old: Option<&LabelSelector>,
) {
    let any_values = old.is_some_and(|stored| !is_valid_selector(stored));
    let options = SelectorOptions { allow_invalid_values: any_values, ..SelectorOptions::default() };
    validate_label_selector_with(v, path, new, options);
}

/// `GetWarningsForCSIStorageCapacity`
pub fn warn_csi_storage_capacity(_: &Context, new: &CSIStorageCapacity, _: Option<&CSIStorageCapacity>) -> Vec<String> {
    let Some(selector) = &new.node_topology else { return Vec::new() };
    let path = Path::new("nodeTopology");
    let expressions = selector.match_expressions.iter().enumerate().filter_map(|(index, requirement)| {
        let text = deprecation(&requirement.key)?;
        let path = path.child("matchExpressions");
        Some(format!("{}: {} is {text}", path.index(index).child("key"), requirement.key))
    });
    let labels = selector
        .match_labels
        .keys()
        .filter_map(|key| Some(format!("{}: {}", path.child("matchLabels").child(key), deprecation(key)?)));
    expressions.chain(labels).collect()
}
