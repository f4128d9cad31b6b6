//! Validation of pod templates, for functions of workloads.

use machinery::field_path::Path;
use machinery::hooks::{ChosenOptions, Validation, WriteContext};
use machinery::options;
use machinery::reflect::Ref;

use super::annotations::validate_pod_annotations;
use generated::core::v1::PodTemplateSpec;

/// Options of templates, which depend on feature gates and on the stored template.
#[derive(Clone, Debug, Default)]
pub struct PodOptions {
    chosen: ChosenOptions,
    /// Selectors of pods may have invalid label values.
    pub allow_invalid_values_of_pods: bool,
}

impl PodOptions {
    /// Options for a template that replaces `old`: those that `PodSpec` declares.
    pub fn of_template(context: &WriteContext, old: Option<&PodTemplateSpec>) -> Self {
        let (none, errors) = (PodTemplateSpec::default(), &mut Vec::new());
        let mut v = Validation::new(context, errors);
        v.checks_of("options", &Path::NONE, Ref::of(old.unwrap_or(&none)), old.map(Ref::of));
        let allow_invalid_values_of_pods = v.has_option(options::ANY_VALUES_OF_PODS);
        PodOptions { chosen: v.options, allow_invalid_values_of_pods }
    }

    fn choose(&self, v: &mut Validation<'_>) {
        v.choose_all(&self.chosen);
        v.set_option(options::ANY_VALUES_OF_PODS, self.allow_invalid_values_of_pods);
    }
}

/// `ValidatePodTemplateSpec`. Hand-written, because functions of workloads change the options.
pub fn validate_pod_template_spec(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    template: &PodTemplateSpec,
    options: &PodOptions,
) {
    options.choose(v);
    v.checks_of("chosen", path, Ref::of(template), None);
}

/// Validates the annotations of a template a second time, as upstream does for stateful sets.
pub fn validate_template_annotations(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    template: &PodTemplateSpec,
    options: &PodOptions,
) {
    options.choose(v);
    validate_pod_annotations(v, path, &template.metadata.annotations, &template.spec);
}
