//! What an autoscaler goes by.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{self, NameRule};
use machinery::hooks::Validation;
use machinery::scalar::Quantity;

use super::reference::{ApiVersionRule, validate_reference};
use crate::autoscaling::v2::{
    ContainerResourceMetricSource, ExternalMetricSource, HorizontalPodAutoscalerSpec, MetricIdentifier, MetricSpec,
    MetricTarget, ObjectMetricSource, PodsMetricSource, ResourceMetricSource,
};
use crate::hatches::core::validation::resources::validate_container_resource_name;

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
            validate_external(v, &path.child("external"), source);
        }
        present.push("external");
    }
    if let Some(source) = &metric.pods {
        if present.is_empty() {
            validate_pods(v, &path.child("pods"), source);
        }
        present.push("pods");
    }
    if let Some(source) = &metric.resource {
        if present.is_empty() {
            validate_resource(v, &path.child("resource"), source);
        }
        present.push("resource");
    }
    if let Some(source) = &metric.container_resource {
        if present.is_empty() {
            validate_container_resource(v, &path.child("containerResource"), source);
        }
        present.push("containerResource");
    }
    present
}

fn validate_object(v: &mut Validation<'_>, path: &Path<'_>, source: &ObjectMetricSource, rule: ApiVersionRule) {
    let target = path.child("target");
    validate_reference(v, &path.child("describedObject"), &source.described_object, rule);
    validate_identifier(v, &path.child("metric"), &source.metric);
    validate_target(v, &target, &source.target);
    if source.target.value.is_none() && source.target.average_value.is_none() {
        v.required(&target.child("averageValue"), "must set either a target value or averageValue");
    }
}

fn validate_external(v: &mut Validation<'_>, path: &Path<'_>, source: &ExternalMetricSource) {
    let target = path.child("target");
    validate_identifier(v, &path.child("metric"), &source.metric);
    validate_target(v, &target, &source.target);
    match (&source.target.value, &source.target.average_value) {
        (None, None) => {
            let detail = "must set either a target value for metric or a per-pod target";
            v.required(&target.child("averageValue"), detail);
        }
        (Some(_), Some(_)) => {
            let detail = "may not set both a target value for metric and a per-pod target";
            v.forbidden(&target.child("value"), detail);
        }
        _ => {}
    }
}

fn validate_pods(v: &mut Validation<'_>, path: &Path<'_>, source: &PodsMetricSource) {
    let target = path.child("target");
    validate_identifier(v, &path.child("metric"), &source.metric);
    validate_target(v, &target, &source.target);
    if source.target.average_value.is_none() {
        v.required(&target.child("averageValue"), "must specify a positive target averageValue");
    }
}

fn validate_container_resource(v: &mut Validation<'_>, path: &Path<'_>, source: &ContainerResourceMetricSource) {
    let (name, container) = (path.child("name"), path.child("container"));
    if source.name.is_empty() {
        v.required(&name, "must specify a resource name");
    } else {
        validate_container_resource_name(v, &name, &source.name);
    }
    if source.container.is_empty() {
        v.required(&container, "must specify a container");
    } else {
        v.name(&container, &source.container, NameRule::Dns1123Label);
    }
    validate_utilization(v, &path.child("target"), &source.target);
}

fn validate_resource(v: &mut Validation<'_>, path: &Path<'_>, source: &ResourceMetricSource) {
    if source.name.is_empty() {
        v.required(&path.child("name"), "must specify a resource name");
    }
    validate_utilization(v, &path.child("target"), &source.target);
}

/// The target of a resource: an amount, or a share of what is asked for.
fn validate_utilization(v: &mut Validation<'_>, path: &Path<'_>, target: &MetricTarget) {
    validate_target(v, path, target);
    match (target.average_utilization, &target.average_value) {
        (None, None) => {
            let detail = "must set either a target raw value or a target utilization";
            v.required(&path.child("averageUtilization"), detail);
        }
        (Some(_), Some(_)) => {
            let detail = "may not set both a target raw value and a target utilization";
            v.forbidden(&path.child("averageValue"), detail);
        }
        _ => {}
    }
}

/// `validateMetricTarget`
fn validate_target(v: &mut Validation<'_>, path: &Path<'_>, target: &MetricTarget) {
    let type_path = path.child("type");
    if target.r#type.is_empty() {
        v.required(&type_path, "must specify a metric target type");
    }
    if !matches!(target.r#type.as_str(), "Utilization" | "Value" | "AverageValue") {
        let shown = BadValue::json_string(&target.r#type);
        v.invalid(&type_path, shown, "must be either Utilization, Value, or AverageValue");
    }
    validate_amount(v, &path.child("value"), target.value.as_ref());
    validate_amount(v, &path.child("averageValue"), target.average_value.as_ref());
    if let Some(share) = target.average_utilization.filter(|share| *share < 1) {
        v.invalid(&path.child("averageUtilization"), share, "must be greater than 0");
    }
}

fn validate_amount(v: &mut Validation<'_>, path: &Path<'_>, amount: Option<&Quantity>) {
    if let Some(amount) = amount.filter(|amount| !amount.sign().is_gt()) {
        v.invalid(path, BadValue::json_string(&amount.to_string()), "must be positive");
    }
}

/// `validateMetricIdentifier`
fn validate_identifier(v: &mut Validation<'_>, path: &Path<'_>, metric: &MetricIdentifier) {
    let path = path.child("name");
    if metric.name.is_empty() {
        v.required(&path, "must specify a metric name");
    } else {
        v.malformed(&path, &metric.name, format::is_path_segment_name(&metric.name));
    }
}
