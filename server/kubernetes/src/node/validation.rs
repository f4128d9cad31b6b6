//! What upstream checks by hand in runtime classes (`pkg/apis/node/validation`).

use std::collections::{BTreeSet, HashSet};

use machinery::field_path::Path;
use machinery::hooks::{Context, Validation};
use meta::{validate_labels, validate_object_meta_update};

use crate::core::internal::internal_value;
use crate::core::validation::resources::validate_container_resources;
use crate::core::validation::tolerations::validate_tolerations;
use crate::core::warnings::node_labels::deprecation;
use generated::core::v1::{ResourceRequirements, Toleration};
use generated::meta::v1::ObjectMeta;
use generated::node::v1::{Overhead, RuntimeClass, Scheduling};

/// What pods of the class need besides their containers.
pub fn validate_overhead(v: &mut Validation<'_>, path: &Path<'_>, new: &Overhead, _: Option<&Overhead>) {
    let resources = ResourceRequirements { limits: new.pod_fixed.clone(), ..ResourceRequirements::default() };
    validate_container_resources(v, path, &resources, &BTreeSet::new());
}

/// Upstream looks at the metadata of an update once more.
pub fn validate_metadata_update(v: &mut Validation<'_>, path: &Path<'_>, new: &ObjectMeta, old: Option<&ObjectMeta>) {
    if let Some(old) = old {
        validate_object_meta_update(v, path, new, old);
    }
}

/// Which nodes run the pods of the class.
pub fn validate_scheduling(v: &mut Validation<'_>, path: &Path<'_>, scheduling: &Scheduling, _: Option<&Scheduling>) {
    validate_labels(v, &path.child("nodeSelector"), &scheduling.node_selector);
    let path = path.child("tolerations");
    validate_tolerations(v, &path, &scheduling.tolerations, false);
    let mut seen = HashSet::new();
    for (index, toleration) in scheduling.tolerations.iter().enumerate() {
        let Toleration { key, operator, value, effect, .. } = toleration;
        if !seen.insert((key, operator, value, effect)) {
            v.duplicate(&path.index(index), internal_value(toleration));
        }
    }
}

/// `GetWarningsForRuntimeClass`
pub fn warn_runtime_class(_: &Context, new: &RuntimeClass, _: Option<&RuntimeClass>) -> Vec<String> {
    let selector = new.scheduling.iter().flat_map(|scheduling| scheduling.node_selector.keys());
    selector.filter_map(|key| Some(format!("scheduling.nodeSelector: {}", deprecation(key)?))).collect()
}
