//! Helpers for metadata, shared by functions of several groups.

use std::collections::BTreeMap;
use std::ops::Bound::{Included, Unbounded};

use generated::meta::v1::LabelSelector;

/// Copies the labels of the pod template to an object without labels.
pub fn labels_from_template(labels: &mut BTreeMap<String, String>, template: &BTreeMap<String, String>) {
    if labels.is_empty() {
        labels.clone_from(template);
    }
}

/// Sets the selector of a workload without one to the labels of its pod template.
pub fn selector_from_template(selector: &mut Option<Box<LabelSelector>>, template: &BTreeMap<String, String>) {
    if selector.is_none() && !template.is_empty() {
        let match_labels = template.clone();
        *selector = Some(Box::new(LabelSelector { match_labels, ..Default::default() }));
    }
}

/// The annotation of a container: its key, which is a prefix and the name of the container, and its value.
///
/// Most objects have no key with the prefix; they are recognized without building the key.
pub fn annotation_of_container<'a>(
    annotations: &'a BTreeMap<String, String>,
    prefix: &str,
    container: &str,
) -> Option<(&'a str, &'a str)> {
    let (first, _) = annotations.range::<str, _>((Included(prefix), Unbounded)).next()?;
    if !first.starts_with(prefix) {
        return None;
    }
    let (key, value) = annotations.get_key_value(&format!("{prefix}{container}"))?;
    Some((key, value))
}
