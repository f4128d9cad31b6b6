//! What an autoscaler goes by.

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use super::reference::{ApiVersionRule, validate_reference};
use crate::core::validation::resources::validate_container_resource_name;
use generated::autoscaling::v2::{
    ContainerResourceMetricSource, HorizontalPodAutoscalerSpec, MetricSpec, ObjectMetricSource,
};

const TYPES: [&str; 5] = ["ContainerResource", "External", "Object", "Pods", "Resource"];

/// `validateMetrics`
pub fn validate_metrics(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &HorizontalPodAutoscalerSpec,
    rule: ApiVersionRule,
) {
    for (index, metric) in spec.metrics.iter().enumerate() {
        validate_metric(v, &path.index(index), metric, rule);
    }
    let tells_without_pods = |metric: &MetricSpec| matches!(metric.r#type.as_str(), "Object" | "External");
    if spec.min_replicas == Some(0) && !spec.metrics.iter().any(tells_without_pods) {
        v.forbidden(path, "must specify at least one Object or External metric to support scaling to zero replicas");
    }
}

/// `validateMetricSpec`: one source, that of the type.
fn validate_metric(v: &mut Validation<'_>, path: &Path<'_>, metric: &MetricSpec, rule: ApiVersionRule) {
    let type_path = path.child("type");
    if metric.r#type.is_empty() {
        v.required(&type_path, "must specify a metric source type");
    }
    v.one_of(&type_path, &metric.r#type, &TYPES);
    let present = validate_first_source(v, path, metric, rule);
    let expected = match metric.r#type.as_str() {
        "Object" => "object",
        "Pods" => "pods",
        "Resource" => "resource",
        "External" => "external",
        "ContainerResource" => "containerResource",
        unknown => {
            v.one_of(&type_path, unknown, &TYPES);
            ""
        }
    };
    if !expected.is_empty() && !present.contains(&expected) {
        v.required(&path.child(expected), "must populate information for the given metric source");
    }
    if present.len() != 1 {
        for other in present.iter().filter(|name| **name != expected) {
            v.forbidden(&path.child(other), "must populate the given metric source only");
        }
    }
}

/// Looks at the first source alone, and tells which are there.
fn validate_first_source(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    metric: &MetricSpec,
    rule: ApiVersionRule,
) -> Vec<&'static str> {
    let mut present = Vec::new();
    if let Some(source) = &metric.object {
        present.push("object");
        validate_object(v, &path.child("object"), source, rule);
    }
    if let Some(source) = &metric.external {
        if present.is_empty() {
            v.checks(&path.child("external"), Ref::of(&**source), None);
        }
        present.push("external");
    }
    if let Some(source) = &metric.pods {
        if present.is_empty() {
            v.checks(&path.child("pods"), Ref::of(&**source), None);
        }
        present.push("pods");
    }
    if let Some(source) = &metric.resource {
        if present.is_empty() {
            v.checks(&path.child("resource"), Ref::of(&**source), None);
        }
        present.push("resource");
    }
    if let Some(source) = &metric.container_resource {
        if present.is_empty() {
            v.checks(&path.child("containerResource"), Ref::of(&**source), None);
        }
        present.push("containerResource");
    }
    present
}

fn validate_object(v: &mut Validation<'_>, path: &Path<'_>, source: &ObjectMetricSource, rule: ApiVersionRule) {
    let target = path.child("target");
    validate_reference(v, &path.child("describedObject"), &source.described_object, rule);
    v.checks(&path.child("metric"), Ref::of(&source.metric), None);
    v.checks(&target, Ref::of(&source.target), None);
    if source.target.value.is_none() && source.target.average_value.is_none() {
        v.required(&target.child("averageValue"), "must set either a target value or averageValue");
    }
}

/// The name of a resource of a container.
pub fn validate_container_resource(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    source: &ContainerResourceMetricSource,
    _: Option<&ContainerResourceMetricSource>,
) {
    let name = path.child("name");
    if source.name.is_empty() {
        v.required(&name, "must specify a resource name");
    } else {
        validate_container_resource_name(v, &name, &source.name);
    }
}
