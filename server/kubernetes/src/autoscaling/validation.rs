//! Hand-written validation of autoscalers that definitions cannot declare
//! (`pkg/apis/autoscaling/validation`).

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;

use crate::core::validation::resources::validate_container_resource_name;
use generated::autoscaling::v2::ContainerResourceMetricSource;

/// Validates the resource name of a container metric. Hand-written, because resource names are
/// validated by code.
pub fn validate_container_resource(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    source: &ContainerResourceMetricSource,
    _: Option<&ContainerResourceMetricSource>,
) {
    validate_container_resource_name(v, &path.child(json_name!(ContainerResourceMetricSource.name)), &source.name);
}
