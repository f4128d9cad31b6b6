//! How much storage there is for a class.

use apimachinery::hatches::meta::{
    SelectorOptions, is_valid_selector, validate_label_selector_with, validate_whole_object_meta_update,
};
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::{Context, Validation};
use machinery::reflect::Ref;

use super::IMMUTABLE;
use crate::hatches::core::internal::internal_value;
use crate::hatches::core::validation::resources::validate_not_negative_quantity;
use crate::hatches::core::warnings::node_labels::deprecation;
use crate::storage::v1::CSIStorageCapacity;

/// `ValidateCSIStorageCapacity`, `ValidateCSIStorageCapacityUpdate`
pub fn validate_csi_storage_capacity(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &CSIStorageCapacity,
    old: Option<&CSIStorageCapacity>,
) {
    let (topology, class) = (path.child("nodeTopology"), path.child("storageClassName"));
    if let Some(selector) = &new.node_topology {
        let stored = old.and_then(|old| old.node_topology.as_deref());
        let any_values = stored.is_some_and(|selector| !is_valid_selector(selector));
        let options = SelectorOptions { allow_invalid_values: any_values, ..SelectorOptions::default() };
        validate_label_selector_with(v, &topology, selector, options);
    }
    v.name(&class, &new.storage_class_name, NameRule::Dns1123Subdomain);
    if let Some(capacity) = &new.capacity {
        validate_not_negative_quantity(v, &path.child("capacity"), capacity);
    }
    let Some(old) = old else { return };
    validate_whole_object_meta_update(v, &new.metadata, &old.metadata);
    if Ref::of(new).by_name("nodeTopology") != Ref::of(old).by_name("nodeTopology") {
        v.invalid(&topology, new.node_topology.as_deref().map_or(BadValue::None, internal_value), IMMUTABLE);
    }
    if new.storage_class_name != old.storage_class_name {
        v.invalid(&class, &new.storage_class_name, IMMUTABLE);
    }
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
