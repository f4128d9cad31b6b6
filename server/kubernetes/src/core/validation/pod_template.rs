//! Templates that are objects of their own. By hand: the options follow from what is stored.

use machinery::field_path::Path;
use machinery::hooks::Validation;

use super::options::PodOptions;
use super::template::validate_pod_template_spec;
use generated::core::v1::PodTemplate;

/// `ValidatePodTemplate`, `ValidatePodTemplateUpdate`
pub fn validate_pod_template(v: &mut Validation<'_>, _: &Path<'_>, new: &PodTemplate, old: Option<&PodTemplate>) {
    let options = PodOptions::of_template(v.context, old.map(|old| &old.template));
    validate_pod_template_spec(v, &Path::new("template"), &new.template, &options);
}
