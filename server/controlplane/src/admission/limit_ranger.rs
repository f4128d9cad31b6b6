//! `LimitRanger`: what containers of a namespace get when they say nothing, and what pods, containers and claims may ask for.

use std::collections::BTreeMap;

use endpoints::{Attributes, Environment, Operation};
use generated::core::v1::{Container, LimitRange, LimitRangeItem, PersistentVolumeClaim, Pod};
use generated::hatches::core::{pod_limits, pod_requests};
use machinery::reflect::Owned;
use machinery::scalar::Quantity;
use machinery::status::Status;

use super::lookup::find_all;
use super::{forbidden, joined};

type Resources = BTreeMap<String, Quantity>;

const ANNOTATION: &str = "kubernetes.io/limit-ranger";
/// Quantities above this lose their thousandths when they are compared as ratios (`resource.MaxMilliValue`).
const MAX_MILLI: i64 = i64::MAX / 1000;

async fn limits(environment: &Environment, attributes: &Attributes) -> Result<Vec<LimitRangeItem>, Status> {
    let ranges = find_all::<LimitRange>(environment, attributes, ("", "limitranges"), &attributes.namespace).await?;
    Ok(ranges.iter().flat_map(|range| range.spec.limits.clone()).collect())
}

/// Fills requests and limits of a new pod's containers.
pub async fn admit(environment: &Environment, attributes: &Attributes, object: &mut Owned) -> Result<(), Status> {
    let Some(pod) = object.downcast_mut::<Pod>().filter(|_| attributes.operation == Operation::Create) else {
        return Ok(());
    };
    for item in limits(environment, attributes).await? {
        if item.r#type == "Container" {
            fill(pod, &item);
        }
    }
    Ok(())
}

fn fill(pod: &mut Pod, item: &LimitRangeItem) {
    let mut notes = Vec::new();
    for container in &mut pod.spec.containers {
        fill_container(container, "container", item, &mut notes);
    }
    for container in &mut pod.spec.init_containers {
        fill_container(container, "init container", item, &mut notes);
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

/// Refuses what is outside the limits.
pub async fn validate(environment: &Environment, attributes: &Attributes, object: &Owned) -> Result<(), Status> {
    let (pod, claim) = (object.downcast_ref::<Pod>(), object.downcast_ref::<PersistentVolumeClaim>());
    let resize = attributes.subresource == "resize";
    let judged = match attributes.operation {
        Operation::Create => attributes.subresource.is_empty(),
        Operation::Update => (pod.is_some() && resize) || (claim.is_some() && attributes.subresource.is_empty()),
        _ => false,
    };
    if !judged || (pod.is_none() && claim.is_none()) {
        return Ok(());
    }
    for item in limits(environment, attributes).await? {
        let mut wrong = Vec::new();
        if let Some(pod) = pod.filter(|pod| pod.metadata.deletion_timestamp.is_none()) {
            check_pod(pod, &item, &mut wrong);
        }
        if let Some(claim) = claim.filter(|_| item.r#type == "PersistentVolumeClaim") {
            let requests = &claim.spec.resources.requests;
            item.min
                .iter()
                .for_each(|(name, min)| wrong.extend(too_low(&item, name, min, requests, &Resources::new())));
            item.max.iter().for_each(|(name, max)| wrong.extend(request_too_high(&item, name, max, requests)));
        }
        if !wrong.is_empty() {
            return Err(forbidden(attributes, joined(&wrong)));
        }
    }
    Ok(())
}

fn check_pod(pod: &Pod, item: &LimitRangeItem, wrong: &mut Vec<String>) {
    match item.r#type.as_str() {
        "Container" => {
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
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn limits_fill_and_refuse() {
        let item = |item: Value| serde_json::from_value::<LimitRangeItem>(item).unwrap();
        let pod = |resources: Value| {
            let spec = json!({"containers": [{"name": "c", "resources": resources}]});
            serde_json::from_value::<Pod>(json!({"spec": spec})).unwrap()
        };
        let mut filled = pod(json!({"requests": {"cpu": "1"}}));
        let limits =
            json!({"type": "Container", "default": {"cpu": "2"}, "defaultRequest": {"cpu": "1", "memory": "1Mi"}});
        fill(&mut filled, &item(limits));
        let note = "LimitRanger plugin set: memory request for container c; cpu limit for container c";
        assert_eq!(filled.metadata.annotations[ANNOTATION], note);

        let of_pod = item(
            json!({"type": "Pod", "min": {"cpu": "200m"}, "max": {"cpu": "2"}, "maxLimitRequestRatio": {"cpu": "2"}}),
        );
        let table = [
            (json!({"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}), ""),
            (
                json!({"requests": {"cpu": "1"}, "limits": {"cpu": "3"}}),
                "[maximum cpu usage per Pod is 2, but limit is 3, cpu max limit to request ratio per Pod is 2, but provided ratio is 3.000000]",
            ),
            (
                json!({"requests": {"cpu": "100m"}, "limits": {"cpu": "200m"}}),
                "minimum cpu usage per Pod is 200m, but request is 100m",
            ),
        ];
        for (resources, expect) in table {
            let mut wrong = Vec::new();
            check_pod(&pod(resources.clone()), &of_pod, &mut wrong);
            let said = if wrong.is_empty() { String::new() } else { joined(&wrong) };
            assert_eq!(said, expect, "{resources}");
        }
    }
}
