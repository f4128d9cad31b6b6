//! `LimitRanger`: applies a namespace's default resources and enforces its limits on pods,
//! containers, and claims.

use std::collections::BTreeMap;
use std::sync::Arc;

use endpoints::{AdmissionAttributes, Operation};
use generated::core::v1::{Container, LimitRange, LimitRangeItem, PersistentVolumeClaim, Pod, limit_type};
use kubernetes::core::{pod_limits, pod_requests};
use machinery::reflect::Owned;
use machinery::scalar::Quantity;
use machinery::status::Status;

use registry::{Stores, meta};

use super::lookup::find_all;
use super::{forbidden, joined};

type Resources = BTreeMap<String, Quantity>;

const ANNOTATION: &str = "kubernetes.io/limit-ranger";
const RESIZE: &str = "resize";
/// Quantities above this are compared without milli precision in ratios (`resource.MaxMilliValue`).
const MAX_MILLI: i64 = i64::MAX / 1000;

async fn ranges(stores: &Stores, attributes: &AdmissionAttributes) -> Result<Vec<Arc<LimitRange>>, Status> {
    find_all(stores, attributes, ("", "limitranges"), &attributes.namespace).await
}

/// Sets default requests and limits of a new pod's containers.
pub async fn admit(stores: &Stores, attributes: &AdmissionAttributes, object: &mut Owned) -> Result<(), Status> {
    if attributes.operation != Operation::Create || !attributes.subresource.is_empty() {
        return Ok(());
    }
    let Some(pod) = object.downcast_mut::<Pod>() else { return Ok(()) };
    for range in ranges(stores, attributes).await? {
        fill(pod, &range.spec.limits);
    }
    Ok(())
}

/// Applies the items of one `LimitRange`. The default of the last item wins.
fn fill(pod: &mut Pod, items: &[LimitRangeItem]) {
    let (mut defaults, mut notes) = (LimitRangeItem::default(), Vec::new());
    for item in items.iter().filter(|item| item.r#type == limit_type::CONTAINER) {
        defaults.default.extend(item.default.clone());
        defaults.default_request.extend(item.default_request.clone());
    }
    for container in &mut pod.spec.containers {
        fill_container(container, "container", &defaults, &mut notes);
    }
    for container in &mut pod.spec.init_containers {
        fill_container(container, "init container", &defaults, &mut notes);
    }
    if !notes.is_empty() {
        let note = format!("LimitRanger plugin set: {}", notes.join("; "));
        pod.metadata.annotations.insert(ANNOTATION.into(), note);
    }
}

fn fill_container(container: &mut Container, what: &str, item: &LimitRangeItem, notes: &mut Vec<String>) {
    let resources = &mut container.resources;
    let parts =
        [("request", &mut resources.requests, &item.default_request), ("limit", &mut resources.limits, &item.default)];
    for (part, into, from) in parts {
        let missing: Vec<&String> = from.keys().filter(|name| !into.contains_key(*name)).collect();
        if !missing.is_empty() {
            let names = missing.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
            notes.push(format!("{names} {part} for {what} {}", container.name));
        }
        let added: Vec<_> = missing.into_iter().map(|name| (name.clone(), from[name].clone())).collect();
        into.extend(added);
    }
}

/// Rejects objects outside the limits.
pub async fn validate(
    stores: &Stores,
    attributes: &AdmissionAttributes,
    object: &Owned,
    old: Option<&Owned>,
) -> Result<(), Status> {
    let (pod, claim) = (object.downcast_ref::<Pod>(), object.downcast_ref::<PersistentVolumeClaim>());
    // Only a resize changes the containers of an existing pod.
    let changes = claim.is_some() || attributes.subresource == RESIZE || attributes.operation == Operation::Create;
    let is_deleted = old.and_then(|old| meta(old.as_ref())).is_some_and(|meta| meta.deletion_timestamp.is_some());
    if !changes || is_deleted {
        return Ok(());
    }
    for range in ranges(stores, attributes).await? {
        let mut wrong = Vec::new();
        for item in &range.spec.limits {
            pod.into_iter().for_each(|pod| check_pod(pod, item, &mut wrong));
            claim.into_iter().for_each(|claim| check_claim(claim, item, &mut wrong));
        }
        if !wrong.is_empty() {
            return Err(forbidden(attributes, joined(&wrong)));
        }
    }
    Ok(())
}

/// Checks the requests of a claim. Limits of claims are not enforced.
fn check_claim(claim: &PersistentVolumeClaim, item: &LimitRangeItem, wrong: &mut Vec<String>) {
    if item.r#type != "PersistentVolumeClaim" {
        return;
    }
    let requests = &claim.spec.resources.requests;
    for (name, min) in &item.min {
        wrong.extend(too_low(item, name, min, requests, &Resources::new()));
    }
    for (name, max) in &item.max {
        wrong.extend(request_too_high(item, name, max, requests));
    }
}

fn check_pod(pod: &Pod, item: &LimitRangeItem, wrong: &mut Vec<String>) {
    match item.r#type.as_str() {
        limit_type::CONTAINER => {
            for container in pod.spec.containers.iter().chain(&pod.spec.init_containers) {
                check(item, &container.resources.requests, &container.resources.limits, wrong);
            }
        }
        "Pod" => check(item, &pod_requests(&pod.spec), &pod_limits(&pod.spec), wrong),
        _ => {}
    }
}

fn check(item: &LimitRangeItem, requests: &Resources, limits: &Resources, wrong: &mut Vec<String>) {
    for (name, min) in &item.min {
        wrong.extend(too_low(item, name, min, requests, limits));
    }
    for (name, max) in &item.max {
        wrong.extend(too_high(item, name, max, requests, limits));
    }
    for (name, ratio) in &item.max_limit_request_ratio {
        wrong.extend(too_far_apart(item, name, ratio, requests, limits));
    }
}

fn too_low(
    item: &LimitRangeItem,
    name: &str,
    min: &Quantity,
    requests: &Resources,
    limits: &Resources,
) -> Option<String> {
    let what = format!("minimum {name} usage per {} is {min}", item.r#type);
    match (requests.get(name), limits.get(name)) {
        (None, _) => Some(format!("{what}.  No request is specified")),
        (Some(request), _) if request < min => Some(format!("{what}, but request is {request}")),
        (_, Some(limit)) if limit < min => Some(format!("{what}, but limit is {limit}")),
        _ => None,
    }
}

fn too_high(
    item: &LimitRangeItem,
    name: &str,
    max: &Quantity,
    requests: &Resources,
    limits: &Resources,
) -> Option<String> {
    let what = format!("maximum {name} usage per {} is {max}", item.r#type);
    match (limits.get(name), requests.get(name)) {
        (None, _) => Some(format!("{what}.  No limit is specified")),
        (Some(limit), _) if limit > max => Some(format!("{what}, but limit is {limit}")),
        (_, Some(request)) if request > max => Some(format!("{what}, but request is {request}")),
        _ => None,
    }
}

fn request_too_high(item: &LimitRangeItem, name: &str, max: &Quantity, requests: &Resources) -> Option<String> {
    let what = format!("maximum {name} usage per {} is {max}", item.r#type);
    match requests.get(name) {
        None => Some(format!("{what}.  No request is specified")),
        Some(request) if request > max => Some(format!("{what}, but request is {request}")),
        _ => None,
    }
}

fn too_far_apart(
    item: &LimitRangeItem,
    name: &str,
    max: &Quantity,
    requests: &Resources,
    limits: &Resources,
) -> Option<String> {
    let what = format!("{name} max limit to request ratio per {} is {max}", item.r#type);
    let (Some(request), limit) = (requests.get(name).filter(|r| !r.is_zero()), limits.get(name)) else {
        return Some(format!("{what}, but no request is specified or request is 0"));
    };
    let Some(limit) = limit.filter(|l| !l.is_zero()) else {
        return Some(format!("{what}, but no limit is specified or limit is 0"));
    };
    let in_milli = [request, limit, max].iter().all(|q| q.value() <= MAX_MILLI);
    let number = |q: &Quantity| if in_milli { q.milli_value() as f64 } else { q.value() as f64 };
    let ratio = number(limit) / number(request);
    let most = if max.value() <= MAX_MILLI { max.milli_value() as f64 / 1000.0 } else { max.value() as f64 };
    (ratio > most).then(|| format!("{what}, but provided ratio is {ratio:.6}"))
}

#[cfg(test)]
mod tests;
