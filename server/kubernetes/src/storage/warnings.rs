//! Warnings of `storage`: deprecated node labels, and tokens that are logged.

use machinery::features;
use machinery::field_path::Path;
use machinery::hooks::WriteContext;
use machinery::json_name;
use machinery::reflect::Ref;

use crate::core::warnings::node_labels::deprecation;
use apimachinery::meta::v1::{LabelSelector, LabelSelectorRequirement};
use generated::core::v1::{TopologySelectorLabelRequirement, TopologySelectorTerm};
use generated::storage::v1::{CSIDriver, CSIStorageCapacity, StorageClass};

/// `GetWarningsForCSIStorageCapacity`
pub fn warn_csi_storage_capacity(
    _: &WriteContext,
    new: &CSIStorageCapacity,
    _: Option<&CSIStorageCapacity>,
) -> Vec<String> {
    let Some(selector) = &new.node_topology else { return Vec::new() };
    let path = Path::new(json_name!(CSIStorageCapacity.node_topology));
    let expressions = selector.match_expressions.iter().enumerate().filter_map(|(index, requirement)| {
        let text = deprecation(&requirement.key)?;
        let path = path.child(json_name!(LabelSelector.match_expressions));
        Some(format!(
            "{}: {} is {text}",
            path.index(index).child(json_name!(LabelSelectorRequirement.key)),
            requirement.key
        ))
    });
    let labels = selector.match_labels.keys().filter_map(|key| {
        Some(format!("{}: {}", path.child(json_name!(LabelSelector.match_labels)).child(key), deprecation(key)?))
    });
    expressions.chain(labels).collect()
}

/// `GetWarningsForStorageClass`
pub fn warn_storage_class(_: &WriteContext, new: &StorageClass, _: Option<&StorageClass>) -> Vec<String> {
    let path = Path::new(json_name!(StorageClass.allowed_topologies));
    let mut warnings = Vec::new();
    for (index, term) in new.allowed_topologies.iter().enumerate() {
        let path = path.index(index);
        let path = path.child(json_name!(TopologySelectorTerm.match_label_expressions));
        for (index, requirement) in term.match_label_expressions.iter().enumerate() {
            let warning = deprecation(&requirement.key);
            warnings.extend(warning.map(|text| {
                format!("{}: {text}", path.index(index).child(json_name!(TopologySelectorLabelRequirement.key)))
            }));
        }
    }
    warnings
}

/// Warns about tokens in a place where they are logged (`csiDriverStrategy.WarningsOnCreate`,
/// `WarningsOnUpdate`).
pub fn warn_csi_driver(context: &WriteContext, new: &CSIDriver, old: Option<&CSIDriver>) -> Vec<String> {
    let is_same = |old: &CSIDriver| {
        let (old, new) = (&old.spec.token_requests, &new.spec.token_requests);
        old.len() == new.len() && old.iter().zip(new).all(|(old, new)| Ref::of(old) == Ref::of(new))
    };
    let in_attributes = new.spec.service_account_token_in_secrets.is_none() && !new.spec.token_requests.is_empty();
    if !in_attributes || old.is_some_and(is_same) || !context.enabled(features::CSIServiceAccountTokenSecrets) {
        return Vec::new();
    }
    let warning = "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent \
                   possible logging of tokens in volume attributes";
    vec![warning.to_owned()]
}
