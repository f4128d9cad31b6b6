//! Validation of the templates of replication controllers.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;

use super::options::PodOptions;
use super::template::validate_pod_template_spec;
use apimachinery::meta::v1::ObjectMeta;
use generated::core::v1::{PodTemplateSpec, ReplicationControllerSpec};

type Spec = ReplicationControllerSpec;

/// `ValidatePodTemplateSpecForRC`. Hand-written, because options depend on the stored object, and
/// labels are compared with the selector.
pub fn validate_controller_template(v: &mut Validation<'_>, path: &Path<'_>, new: &Spec, old: Option<&Spec>) {
    let (Some(template), path) = (new.template.as_deref(), &path.child(json_name!(ReplicationControllerSpec.template)))
    else {
        return;
    };
    let labels = &template.metadata.labels;
    if new.selector.iter().any(|(key, value)| labels.get(key) != Some(value)) {
        let path = path.child(json_name!(PodTemplateSpec.metadata));
        let detail = "`selector` does not match template `labels`";
        v.invalid(&path.child(json_name!(ObjectMeta.labels)), BadValue::string_map(labels), detail);
    }
    let options = PodOptions::of_template(v.context, old.and_then(|old| old.template.as_deref()));
    validate_pod_template_spec(v, path, template, &options);
}
