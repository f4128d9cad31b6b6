//! Nodes. By hand: annotations that hold documents, and networks that are compared with each other.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::format::DNS_SUBDOMAIN_MAX_LENGTH;
use machinery::format::ip::Cidr;
use machinery::hooks::Validation;
use machinery::json::{self, Issues};
use machinery::reflect::{Mut, Ref, Struct};
use machinery::scalar::{Quantity, go_text};

use super::addresses::validate_legacy_cidr;
use super::resources::validate_resource_quantity;
use crate::core::internal::internal_value;
use generated::core::v1::{AvoidPods, Node, NodeSpec, Taint};
use meta::validate_whole_object_meta_update;

const TAINTS: &str = "scheduler.alpha.kubernetes.io/taints";
const AVOID_PODS: &str = "scheduler.alpha.kubernetes.io/preferAvoidPods";

/// `ValidateNode`, `ValidateNodeUpdate`; an update of the object is checked by both, one of the status by the second.
pub fn validate_node(v: &mut Validation<'_>, _: &Path<'_>, new: &Node, old: Option<&Node>) {
    if v.context.subresource != "status" {
        validate_new(v, new);
        if let Some(old) = old {
            validate_whole_object_meta_update(v, &new.metadata, &old.metadata);
        }
    }
    if let Some(old) = old {
        validate_change(v, new, old);
    }
}

fn validate_new(v: &mut Validation<'_>, node: &Node) {
    let (metadata, spec) = (Path::new("metadata"), Path::new("spec"));
    validate_annotations(v, &metadata.child("annotations"), &node.metadata.annotations);
    validate_taints(v, &metadata.child("taints"), &node.spec.taints);
    validate_resources(v, node);
    v.checks(&Path::new("status"), Ref::of(&node.status), None);
    validate_features(v, &node.status.declared_features);
    validate_pod_cidrs(v, &spec.child("podCIDRs"), &node.spec);
}

fn validate_change(v: &mut Validation<'_>, new: &Node, old: &Node) {
    let (metadata, spec, status) = (Path::new("metadata"), Path::new("spec"), Path::new("status"));
    validate_annotations(v, &metadata.child("annotations"), &new.metadata.annotations);
    validate_resources(v, new);
    validate_features(v, &new.status.declared_features);
    v.checks_of("change", &status, Ref::of(&new.status), None);
    validate_fixed(v, &spec, &new.spec, &old.spec);
    v.checks(&spec, Ref::of(&new.spec), Some(Ref::of(&old.spec)));
    v.checks_of("config", &status, Ref::of(&new.status), None);
    validate_taints(v, &metadata.child("taints"), &new.spec.taints);
    v.checks_of("last", &spec, Ref::of(&new.spec), Some(Ref::of(&old.spec)));
}

/// What stays once it is set.
fn validate_fixed(v: &mut Validation<'_>, path: &Path<'_>, new: &NodeSpec, old: &NodeSpec) {
    let (new_ranges, old_ranges) = (&new.pod_cidrs, &old.pod_cidrs);
    let changes = if new_ranges.len() == old_ranges.len() {
        new_ranges.iter().zip(old_ranges).filter(|(new, old)| new != old).count()
    } else {
        usize::from(!old_ranges.is_empty())
    };
    for _ in 0..changes {
        v.forbidden(&path.child("podCIDRs"), "node updates may not change podCIDR except from \"\" to valid");
    }
}

fn validate_pod_cidrs(v: &mut Validation<'_>, path: &Path<'_>, spec: &NodeSpec) {
    for (index, range) in spec.pod_cidrs.iter().enumerate() {
        validate_legacy_cidr(v, &path.index(index), range, &HashSet::new());
    }
    if spec.pod_cidrs.len() < 2 {
        return;
    }
    let ranges: Vec<Cidr> = spec.pod_cidrs.iter().filter_map(|range| Cidr::parse_sloppy(range)).collect();
    let is_wrong = |(_, range): &(usize, &String)| Cidr::parse_sloppy(range).is_none();
    if let Some((index, wrong)) = spec.pod_cidrs.iter().enumerate().find(is_wrong) {
        let error = format!("invalid CIDR[{index}]: <nil> (invalid CIDR address: {wrong})");
        v.errors.push(FieldError::internal(
            path,
            format!("invalid PodCIDRs. failed to check with dual stack with error:{error}"),
        ));
    }
    let v6 = ranges.iter().filter(|range| range.address.is_ipv6()).count();
    if spec.pod_cidrs.len() > 2 || ranges.len() != 2 || v6 != 1 {
        v.invalid(path, BadValue::strings(&spec.pod_cidrs), "may specify no more than one CIDR for each IP family");
    }
}

/// `ValidateNodeResources`
fn validate_resources(v: &mut Validation<'_>, node: &Node) {
    let path = Path::new("status");
    for (field, amounts) in [("capacity", &node.status.capacity), ("allocatable", &node.status.allocatable)] {
        let path = path.child(field);
        amounts.iter().for_each(|(name, amount): (_, &Quantity)| {
            validate_resource_quantity(v, &path.child(name), name, amount);
        });
    }
}

/// `validateNodeDeclaredFeatures`
fn validate_features(v: &mut Validation<'_>, features: &[String]) {
    let path = Path::new("status");
    let path = path.child("declaredFeatures");
    for (index, feature) in features.iter().enumerate() {
        if let Some(wrong) = feature_error(feature) {
            let detail = format!("invalid feature name {}: {wrong}", go_text::quote(feature));
            v.invalid(&path.index(index), feature, detail);
        }
        match features.get(index + 1) {
            Some(next) if next == feature => v.duplicate(&path.index(index + 1), next),
            Some(next) if next < feature => {
                v.invalid(&path.index(index + 1), next, "list must be sorted alphabetically");
            }
            _ => {}
        }
    }
}

/// What is wrong with the name of a feature: `UpperCamelCase`, then segments in any camel case.
fn feature_error(name: &str) -> Option<String> {
    if name.len() > DNS_SUBDOMAIN_MAX_LENGTH {
        return Some(format!("must be no more than {DNS_SUBDOMAIN_MAX_LENGTH} characters"));
    }
    let segment = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.bytes().all(|c| c.is_ascii_alphanumeric())
    };
    let valid = name.starts_with(|c: char| c.is_ascii_uppercase()) && name.split('/').all(segment);
    (!valid).then(|| {
        "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or \
         MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
            .to_owned()
    })
}

/// `validateNodeTaints`
fn validate_taints(v: &mut Validation<'_>, path: &Path<'_>, taints: &[Taint]) {
    let mut seen = BTreeSet::new();
    for (index, taint) in taints.iter().enumerate() {
        let path = path.index(index);
        v.checks(&path, Ref::of(taint), None);
        if !seen.insert((&taint.key, &taint.effect)) {
            let mut error = FieldError::duplicate(&path, internal_value(taint));
            error.detail = "taints must be unique by key and effect pair".into();
            v.errors.push(error);
        }
    }
}

/// Annotations that hold what became fields (`ValidateNodeSpecificAnnotations`).
fn validate_annotations(v: &mut Validation<'_>, path: &Path<'_>, annotations: &BTreeMap<String, String>) {
    let filled = |name: &str| annotations.get(name).filter(|text| !text.is_empty());
    if let Some(text) = filled(TAINTS) {
        // A list has no descriptor of its own.
        match parse::<NodeSpec>(&format!("{{\"taints\":{text}}}")) {
            Ok(spec) => validate_taints(v, &path.child(TAINTS), &spec.taints),
            Err(error) => v.invalid(path, TAINTS, error),
        }
    }
    if let Some(text) = filled(AVOID_PODS) {
        match parse::<AvoidPods>(text) {
            Ok(avoid) => validate_avoid_pods(v, &path.child(AVOID_PODS), &avoid),
            Err(error) => v.invalid(&path.child("AvoidPods"), AVOID_PODS, error),
        }
    }
}

fn parse<T: Struct>(text: &str) -> Result<T, String> {
    let mut value = T::default();
    json::syntax_error(text.as_bytes()).map_or(Ok(()), Err)?;
    match json::decode(text.as_bytes(), Mut::of(&mut value), &mut Issues::ignore()) {
        Ok(()) => Ok(value),
        Err(error) => Err(error.to_string()),
    }
}

fn validate_avoid_pods(v: &mut Validation<'_>, path: &Path<'_>, avoid: &AvoidPods) {
    for (index, entry) in avoid.prefer_avoid_pods.iter().enumerate() {
        let path = path.index(index);
        let path = path.child("PodSignature");
        match entry.pod_signature.pod_controller.as_deref() {
            None => v.required(&path, ""),
            Some(owner) if owner.controller != Some(true) => {
                let path = path.child("PodController");
                v.invalid(&path.child("Controller"), false, "must point to a controller");
            }
            Some(_) => {}
        }
    }
}
