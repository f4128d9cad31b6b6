//! References to objects of some version.

use machinery::field_path::Path;
use machinery::format;
use machinery::hooks::Validation;

use generated::autoscaling::v2::{CrossVersionObjectReference, HorizontalPodAutoscalerSpec};

/// What the version of a reference may be (`CrossVersionObjectReferenceValidationOptions`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ApiVersionRule {
    /// Of a named group.
    Group,
    /// Of any group, core included.
    AnyGroup,
    /// Whatever it was.
    Anything,
}

impl ApiVersionRule {
    /// For the workload: only a replication controller has no group, and what stays as it was is not looked at.
    pub fn of_target(new: &HorizontalPodAutoscalerSpec, old: Option<&HorizontalPodAutoscalerSpec>) -> Self {
        let target = |spec: &HorizontalPodAutoscalerSpec| {
            (spec.scale_target_ref.api_version.clone(), spec.scale_target_ref.kind.clone())
        };
        if old.is_some_and(|old| target(old) == target(new)) {
            Self::Anything
        } else if new.scale_target_ref.kind == "ReplicationController" {
            Self::AnyGroup
        } else {
            Self::Group
        }
    }

    /// For described objects: not looked at where a stored one breaks the rule.
    pub fn of_metrics(old: Option<&HorizontalPodAutoscalerSpec>) -> Self {
        let objects = old.into_iter().flat_map(|old| &old.metrics).filter(|metric| metric.r#type == "Object");
        let mut references = objects.filter_map(|metric| metric.object.as_ref()).map(|o| &o.described_object);
        if references.any(|reference| Self::AnyGroup.refusal(&reference.api_version).is_some()) {
            Self::Anything
        } else {
            Self::AnyGroup
        }
    }

    /// `ValidateAPIVersion`
    fn refusal(self, version: &str) -> Option<String> {
        match version.matches('/').count() {
            _ if self == Self::Anything => None,
            2.. => Some(format!("unexpected GroupVersion string: {version}")),
            0 | 1 if self == Self::Group && version.split_once('/').is_none_or(|(group, _)| group.is_empty()) => {
                Some("apiVersion must specify API group".to_owned())
            }
            _ => None,
        }
    }
}

/// `ValidateCrossVersionObjectReference`
pub fn validate_reference(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    reference: &CrossVersionObjectReference,
    rule: ApiVersionRule,
) {
    for (field, value) in [("kind", &reference.kind), ("name", &reference.name)] {
        let path = path.child(field);
        if value.is_empty() {
            v.required(&path, "");
        } else {
            v.malformed(&path, value, format::is_path_segment_name(value));
        }
    }
    if let Some(why) = rule.refusal(&reference.api_version) {
        v.invalid(&path.child("apiVersion"), &reference.api_version, why);
    }
}
