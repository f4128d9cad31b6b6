//! Strategies of pod templates and replication controllers.

use machinery::field_path::Path;
use machinery::hooks::WriteContext;
use machinery::json_name;

use crate::core::warnings::{warning_of_workload, warnings_of_template};
use generated::core::v1::{PodTemplate, ReplicationController};

/// Warnings about a pod template. Updates do not change the generation, and therefore have no warnings.
pub fn warn_pod_template(_: &WriteContext, new: &PodTemplate, old: Option<&PodTemplate>) -> Vec<String> {
    if old.is_some_and(|old| old.metadata.generation == new.metadata.generation) {
        return Vec::new();
    }
    warnings_of_template(&Path::new(json_name!(PodTemplate.template)), &new.template)
}

/// Warnings about a replication controller: about its name on create, and about its spec whenever that
/// is new.
pub fn warn_replication_controller(
    _: &WriteContext,
    new: &ReplicationController,
    old: Option<&ReplicationController>,
) -> Vec<String> {
    if old.is_some_and(|old| old.metadata.generation == new.metadata.generation) {
        return Vec::new();
    }
    let name = old.is_none().then(|| warning_of_workload(&new.metadata.name)).flatten();
    let template = new.spec.template.as_deref().map(|t| warnings_of_template(&Path::new("spec.template"), t));
    name.into_iter().chain(template.into_iter().flatten()).collect()
}
