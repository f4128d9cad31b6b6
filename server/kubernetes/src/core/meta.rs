//! Helpers for metadata that hatches of several groups share.

use std::collections::BTreeMap;

use generated::meta::v1::LabelSelector;

/// Gives an object the labels of its pod template when it has none of its own.
pub fn labels_from_template(labels: &mut BTreeMap<String, String>, template: &BTreeMap<String, String>) {
    if labels.is_empty() {
        labels.clone_from(template);
    }
}

/// Gives a workload that came without a selector one that matches the labels of its pod template.
pub fn selector_from_template(selector: &mut Option<Box<LabelSelector>>, template: &BTreeMap<String, String>) {
    if selector.is_none() && !template.is_empty() {
        let match_labels = template.clone();
        *selector = Some(Box::new(LabelSelector { match_labels, ..Default::default() }));
    }
}
