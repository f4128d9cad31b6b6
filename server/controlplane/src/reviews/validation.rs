//! Validation of reviews (`pkg/apis/authorization/validation`).

use apimachinery::meta::v1::{FieldSelectorRequirement, ObjectMeta, label_selector_operator};
use generated::authorization::v1::{
    FieldSelectorAttributes, LabelSelectorAttributes, LocalSubjectAccessReview, NonResourceAttributes,
    ResourceAttributes, SelfSubjectAccessReview, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kubernetes::core::internal::internal_value;
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::hooks::{Validation, WriteContext};
use machinery::json_name;
use machinery::status::{GroupResource, Status};
use meta::{SelectorOptions, validate_label_selector_requirement};

/// Returns the error of an invalid review. As upstream, it has no kind.
pub fn refuse(errors: &[FieldError]) -> Result<(), Status> {
    match errors {
        [] => Ok(()),
        errors => Err(Status::invalid(GroupResource { group: "authorization.k8s.io", resource: "" }, "", errors)),
    }
}

/// `ValidateSubjectAccessReview`
pub fn subject_access_review(review: &SubjectAccessReview) -> Vec<FieldError> {
    let mut errors = spec(&review.spec);
    metadata(&review.metadata, "must be empty", &mut errors);
    errors
}

/// `ValidateLocalSubjectAccessReview`
pub fn local_subject_access_review(review: &LocalSubjectAccessReview) -> Vec<FieldError> {
    let mut errors = spec(&review.spec);
    let without_namespace = ObjectMeta { namespace: String::new(), ..review.metadata.clone() };
    empty(&without_namespace, &review.metadata, "must be empty except for namespace", &mut errors);
    if let Some(attributes) =
        review.spec.resource_attributes.as_ref().filter(|s| s.namespace != review.metadata.namespace)
    {
        let path = Path::new("spec.resourceAttributes.namespace");
        errors.push(FieldError::invalid(&path, &attributes.namespace, "must match metadata.namespace"));
    }
    if let Some(attributes) = review.spec.non_resource_attributes.as_deref() {
        let path = Path::new("spec.nonResourceAttributes");
        errors.push(FieldError::invalid(&path, internal_value(attributes), "disallowed on this kind of request"));
    }
    errors
}

/// `ValidateSelfSubjectAccessReview`
pub fn self_subject_access_review(review: &SelfSubjectAccessReview) -> Vec<FieldError> {
    let (resource, path) = (review.spec.resource_attributes.as_deref(), review.spec.non_resource_attributes.as_deref());
    let mut errors = Vec::new();
    either(resource, path, &mut errors);
    resource_attributes(resource, &mut errors);
    metadata(&review.metadata, "must be empty", &mut errors);
    errors
}

/// `ValidateSubjectAccessReviewSpec`
fn spec(spec: &SubjectAccessReviewSpec) -> Vec<FieldError> {
    let (resource, path) = (spec.resource_attributes.as_deref(), spec.non_resource_attributes.as_deref());
    let mut errors = Vec::new();
    either(resource, path, &mut errors);
    if spec.user.is_empty() && spec.groups.is_empty() {
        let detail = "at least one of user or group must be specified";
        errors.push(FieldError::invalid(&Path::new("spec.user"), &spec.user, detail));
    }
    resource_attributes(resource, &mut errors);
    errors
}

fn either(resource: Option<&ResourceAttributes>, path: Option<&NonResourceAttributes>, errors: &mut Vec<FieldError>) {
    match (resource, path) {
        (Some(_), Some(path)) => errors.push(FieldError::invalid(
            &Path::new("spec.nonResourceAttributes"),
            internal_value(path),
            "cannot be specified in combination with resourceAttributes",
        )),
        (None, None) => errors.push(FieldError::invalid(
            &Path::new("spec.resourceAttributes"),
            BadValue::None,
            "exactly one of nonResourceAttributes or resourceAttributes must be specified",
        )),
        _ => {}
    }
}

fn metadata(metadata: &ObjectMeta, detail: &'static str, errors: &mut Vec<FieldError>) {
    empty(metadata, metadata, detail, errors);
}

/// Rejects metadata other than managed fields. The error shows all metadata.
fn empty(checked: &ObjectMeta, shown: &ObjectMeta, detail: &'static str, errors: &mut Vec<FieldError>) {
    let checked = ObjectMeta { managed_fields: Vec::new(), ..checked.clone() };
    if checked != ObjectMeta::default() {
        errors.push(FieldError::invalid(&Path::new("metadata"), internal_value(shown), detail));
    }
}

fn resource_attributes(attributes: Option<&ResourceAttributes>, errors: &mut Vec<FieldError>) {
    let Some(attributes) = attributes else { return };
    let (context, path) = (WriteContext::default(), Path::new("spec.resourceAttributes"));
    let mut v = Validation::new(&context, errors);
    if let Some(selector) = &attributes.field_selector {
        field_selector(&mut v, &path.child(json_name!(ResourceAttributes.field_selector)), selector);
    }
    if let Some(selector) = &attributes.label_selector {
        label_selector(&mut v, &path.child(json_name!(ResourceAttributes.label_selector)), selector);
    }
}

fn field_selector(v: &mut Validation<'_>, path: &Path<'_>, selector: &FieldSelectorAttributes) {
    one_form(v, path, &selector.raw_selector, selector.requirements.len());
    for (index, requirement) in selector.requirements.iter().enumerate() {
        field_requirement(v, &path.child(json_name!(FieldSelectorAttributes.requirements)).index(index), requirement);
    }
}

fn label_selector(v: &mut Validation<'_>, path: &Path<'_>, selector: &LabelSelectorAttributes) {
    one_form(v, path, &selector.raw_selector, selector.requirements.len());
    let options = SelectorOptions { allow_unknown_operators: true, ..SelectorOptions::default() };
    for (index, requirement) in selector.requirements.iter().enumerate() {
        validate_label_selector_requirement(
            v,
            &path.child(json_name!(LabelSelectorAttributes.requirements)).index(index),
            requirement,
            options,
        );
    }
}

fn one_form(v: &mut Validation<'_>, path: &Path<'_>, raw: &str, requirements: usize) {
    match (raw.is_empty(), requirements) {
        (false, 1..) => {
            v.invalid(
                &path.child(json_name!(FieldSelectorAttributes.raw_selector)),
                raw,
                "may not specified at the same time as requirements",
            );
        }
        (true, 0) => {
            let detail = format!("when {path} is specified, requirements or rawSelector is required");
            v.required(&path.child(json_name!(FieldSelectorAttributes.requirements)), detail);
        }
        _ => {}
    }
}

/// `ValidateFieldSelectorRequirement`. Unknown operators are accepted, because clients may be newer
/// than the server.
fn field_requirement(v: &mut Validation<'_>, path: &Path<'_>, requirement: &FieldSelectorRequirement) {
    if requirement.key.is_empty() {
        v.required(&path.child(json_name!(FieldSelectorRequirement.key)), "must be specified");
    }
    let values = path.child(json_name!(FieldSelectorRequirement.values));
    match requirement.operator.as_str() {
        label_selector_operator::IN | label_selector_operator::NOT_IN if requirement.values.is_empty() => {
            v.required(&values, "must be specified when `operator` is 'In' or 'NotIn'");
        }
        label_selector_operator::EXISTS | label_selector_operator::DOES_NOT_EXIST if !requirement.values.is_empty() => {
            v.forbidden(&values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
        }
        _ => {}
    }
}
