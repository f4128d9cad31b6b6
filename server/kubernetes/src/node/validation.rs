//! Hand-written validation of runtime classes (`pkg/apis/node/validation`).

use machinery::field_path::Path;
use machinery::hooks::{Validation, WriteContext};

use crate::core::validation::resources::validate_container_resources;
use crate::core::warnings::node_labels::deprecation;
use generated::core::v1::ResourceRequirements;
use generated::node::v1::{Overhead, RuntimeClass};
pub use meta::validate_metadata_update;

/// Validates the overhead of the class's pods. Hand-written, because it is validated like the limits of
/// a container.
pub fn validate_overhead(v: &mut Validation<'_>, path: &Path<'_>, new: &Overhead, _: Option<&Overhead>) {
    let resources = ResourceRequirements { limits: new.pod_fixed.clone(), ..ResourceRequirements::default() };
    validate_container_resources(v, path, &resources, None);
}

/// `GetWarningsForRuntimeClass`
pub fn warn_runtime_class(_: &WriteContext, new: &RuntimeClass, _: Option<&RuntimeClass>) -> Vec<String> {
    let selector = new.scheduling.iter().flat_map(|scheduling| scheduling.node_selector.keys());
    selector.filter_map(|key| Some(format!("scheduling.nodeSelector: {}", deprecation(key)?))).collect()
}
