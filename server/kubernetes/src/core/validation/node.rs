//! Hand-written validation of nodes.

use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::format::DNS_SUBDOMAIN_MAX_LENGTH;
use machinery::format::ip::Cidr;
use machinery::format::resource::amount_errors;
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::scalar::go_text;

use crate::core::annotation_json::{parse, parse_list};
use crate::core::internal::internal_list_error;
use generated::core::v1::{AvoidPods, NodeSpec, NodeStatus};
use generated::meta::v1::ObjectMeta;

const TAINTS: &str = "scheduler.alpha.kubernetes.io/taints";
const AVOID_PODS: &str = "scheduler.alpha.kubernetes.io/preferAvoidPods";
const LONG_FEATURE: &str = "must be no more than 253 characters";
const FEATURE_NAME: &str = "must start with an UpperCamelCase segment, with subsequent segments separated by '/' \
                            (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and \
                            slashes";

/// Checks that there is at most one range of each address family. Hand-written, because ranges are
/// compared, and a malformed range is reported again.
pub fn validate_pod_ranges(v: &mut Validation<'_>, path: &Path<'_>, spec: &NodeSpec, _: Option<&NodeSpec>) {
    let path = &path.child(json_name!(NodeSpec.pod_cidrs));
    let ranges: Vec<Option<Cidr>> = spec.pod_cidrs.iter().map(|range| Cidr::parse_sloppy(range)).collect();
    if let Some(index) = ranges.iter().position(Option::is_none) {
        let error = format!("invalid CIDR[{index}]: <nil> (invalid CIDR address: {})", spec.pod_cidrs[index]);
        let text = format!("invalid PodCIDRs. failed to check with dual stack with error:{error}");
        v.errors.push(FieldError::internal(path, text));
    }
    let is_dual = matches!(ranges.as_slice(), [Some(a), Some(b)] if a.address.is_ipv6() != b.address.is_ipv6());
    if !is_dual {
        v.invalid(path, BadValue::strings(&spec.pod_cidrs), "may specify no more than one CIDR for each IP family");
    }
}

/// `ValidateNodeResources`. Hand-written, because errors refer to a map entry as if it were a field.
pub fn validate_node_amounts(v: &mut Validation<'_>, path: &Path<'_>, status: &NodeStatus, _: Option<&NodeStatus>) {
    for (field, amounts) in [("capacity", &status.capacity), ("allocatable", &status.allocatable)] {
        let path = path.child(field);
        amounts.iter().for_each(|(name, amount)| v.errors.extend(amount_errors(&path.child(name), name, amount)));
    }
}

/// `validateNodeDeclaredFeatures`: names are `UpperCamelCase`; segments after slashes may be in any
/// camel case. Hand-written, because the list has to be sorted, and messages contain names.
pub fn validate_declared_features(v: &mut Validation<'_>, path: &Path<'_>, new: &NodeStatus, _: Option<&NodeStatus>) {
    let path = path.child(json_name!(NodeStatus.declared_features));
    let segment = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.bytes().all(|c| c.is_ascii_alphanumeric())
    };
    let mut before: Option<&String> = None;
    for (index, feature) in new.declared_features.iter().enumerate() {
        let path = path.index(index);
        match before {
            Some(before) if before == feature => v.duplicate(&path, feature),
            Some(before) if before > feature => v.invalid(&path, feature, "list must be sorted alphabetically"),
            _ => {}
        }
        let wrong = match feature {
            long if long.len() > DNS_SUBDOMAIN_MAX_LENGTH => LONG_FEATURE,
            other if other.starts_with(|c: char| c.is_ascii_uppercase()) && other.split('/').all(segment) => "",
            _ => FEATURE_NAME,
        };
        if !wrong.is_empty() {
            v.invalid(&path, feature, format!("invalid feature name {}: {wrong}", go_text::quote(feature)));
        }
        before = Some(feature);
    }
}

/// `ValidateNodeSpecificAnnotations`. Hand-written, because annotations contain JSON of later fields.
pub fn validate_node_annotations(v: &mut Validation<'_>, path: &Path<'_>, new: &ObjectMeta, _: Option<&ObjectMeta>) {
    let path = &path.child(json_name!(ObjectMeta.annotations));
    let filled = |name: &str| new.annotations.get(name).filter(|text| !text.is_empty());
    if let Some(text) = filled(TAINTS) {
        match parse_list::<NodeSpec>("taints", text) {
            Ok(spec) => v.checks_of_items(&path.child(TAINTS), &spec.taints),
            Err(error) => v.invalid(path, TAINTS, internal_list_error(&error, "taints")),
        }
    }
    match filled(AVOID_PODS).map(|text| parse::<AvoidPods>(text)) {
        Some(Ok(avoid)) => validate_avoid_pods(v, &path.child(AVOID_PODS), &avoid),
        Some(Err(error)) => v.invalid(&path.child("AvoidPods"), AVOID_PODS, error.to_string()),
        None => {}
    }
}

fn validate_avoid_pods(v: &mut Validation<'_>, path: &Path<'_>, avoid: &AvoidPods) {
    for (index, entry) in avoid.prefer_avoid_pods.iter().enumerate() {
        let path = path.index(index);
        let path = path.child("PodSignature");
        match entry.pod_signature.pod_controller.as_deref() {
            None => v.required(&path, ""),
            Some(owner) if owner.controller != Some(true) => {
                let detail = "must point to a controller";
                v.invalid(&path.child("PodController").child("Controller"), false, detail);
            }
            Some(_) => {}
        }
    }
}
