//! Pod templates and replication controllers.

use machinery::field_path::Path;
use machinery::hooks::Context;
use machinery::json_name;

use crate::core::warnings::{warning_of_workload, warnings_of_template};
use generated::core::v1::{PodTemplate, ReplicationController};

/// What the writer of a template is warned of. Updates leave the generation as it is, and so warn of nothing.
pub fn warn_pod_template(_: &Context, new: &PodTemplate, old: Option<&PodTemplate>) -> Vec<String> {
    if old.is_some_and(|old| old.metadata.generation == new.metadata.generation) {
        return Vec::new();
    }
    warnings_of_template(&Path::new(json_name!(PodTemplate.template)), &new.template)
}

/// What the writer of a replication controller is warned of: of its spec when that is new, and of the name it has from then on.
pub fn warn_replication_controller(
    _: &Context,
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
