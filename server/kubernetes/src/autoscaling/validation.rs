//! What upstream checks by hand in autoscalers (`pkg/apis/autoscaling/validation`), and definitions do not say.

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;

use crate::core::validation::resources::validate_container_resource_name;
use generated::autoscaling::v2::ContainerResourceMetricSource;

/// The name of a resource of a container. By hand: names of resources are checked by a program.
pub fn validate_container_resource(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    source: &ContainerResourceMetricSource,
    _: Option<&ContainerResourceMetricSource>,
) {
    validate_container_resource_name(v, &path.child(json_name!(ContainerResourceMetricSource.name)), &source.name);
}
