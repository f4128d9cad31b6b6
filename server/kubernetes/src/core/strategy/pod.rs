//! Strategies of pods: initial status, grace period, and the fields that each subresource changes.

use std::collections::{HashMap, VecDeque};

use machinery::features;
use machinery::field_path::Path;
use machinery::format::ip::warnings_for_ip;
use machinery::hooks::WriteContext;
use machinery::json_name;

use super::pod_labels::merge_label_keys;
use crate::core::app_armor::fields_from_annotations;
use crate::core::qos::quality_of_service;
use crate::core::warnings::{warning_of_name, warnings_of_pod};
use generated::core::v1::{
    Container, Pod, PodCondition, PodIP, PodStatus, condition_status, pod_condition_type, pod_phase,
};

/// Mirrors `podStrategy.PrepareForCreate`.
pub fn create_pod(context: &WriteContext, pod: &mut Pod, _: Option<&Pod>) {
    pod.status = PodStatus {
        phase: pod_phase::PENDING.into(),
        qos_class: quality_of_service(&pod.spec).into(),
        ..PodStatus::default()
    };
    if !pod.spec.scheduling_gates.is_empty() {
        pod.status.conditions.push(PodCondition {
            r#type: pod_condition_type::POD_SCHEDULED.into(),
            status: condition_status::FALSE.into(),
            last_transition_time: context.now,
            reason: "SchedulingGated".into(),
            message: "Scheduling is blocked due to non-empty scheduling gates".into(),
            ..PodCondition::default()
        });
    }
    merge_label_keys(context, pod);
    fields_from_annotations(context, pod);
}

/// Mirrors `PrepareForUpdate` of each of the strategies of pods.
pub fn update_pod(context: &WriteContext, new: &mut Pod, old: &Pod) {
    match context.subresource.as_str() {
        "status" => keep_status(&mut new.status, &old.status),
        "ephemeralcontainers" => keep_all_but_ephemeral_containers(new, old),
        "resize" => keep_all_but_resources(context, new, old),
        _ => {}
    }
}

/// Keeps status fields that the writer omits: the QoS class and the observed generation.
fn keep_status(new: &mut PodStatus, old: &PodStatus) {
    if new.qos_class.is_empty() {
        new.qos_class = old.qos_class.clone();
    }
    if new.observed_generation == 0 {
        new.observed_generation = old.observed_generation;
    }
    // There may be several conditions of one type.
    let mut before: HashMap<&str, VecDeque<&PodCondition>> = HashMap::new();
    for condition in &old.conditions {
        before.entry(&condition.r#type).or_default().push_back(condition);
    }
    for condition in &mut new.conditions {
        let Some(was) = before.get_mut(condition.r#type.as_str()).and_then(VecDeque::pop_front) else { continue };
        if condition.observed_generation == 0 {
            condition.observed_generation = was.observed_generation;
        }
    }
}

/// `dropNonEphemeralContainerUpdates`
fn keep_all_but_ephemeral_containers(new: &mut Pod, old: &Pod) {
    let containers = std::mem::take(&mut new.spec.ephemeral_containers);
    keep_all(new, old);
    new.spec.ephemeral_containers = containers;
}

/// `dropNonResizeUpdates`; validation rejects a different set of containers.
fn keep_all_but_resources(context: &WriteContext, new: &mut Pod, old: &Pod) {
    let (is, was) = (&new.spec, &old.spec);
    if is.containers.len() != was.containers.len() || is.init_containers.len() != was.init_containers.len() {
        return;
    }
    let mut spec = std::mem::take(&mut new.spec);
    keep_all(new, old);
    new.spec.containers = resized(&mut spec.containers, &old.spec.containers);
    new.spec.init_containers = resized(&mut spec.init_containers, &old.spec.init_containers);
    if context.enabled(features::InPlacePodLevelResourcesVerticalScaling) {
        new.spec.resources = spec.resources;
    }
}

fn resized(new: &mut Vec<Container>, old: &[Container]) -> Vec<Container> {
    if new.iter().zip(old).any(|(new, old)| new.name != old.name) {
        return std::mem::take(new);
    }
    let pairs = new.drain(..).zip(old);
    pairs
        .map(|(new, old)| Container { resources: new.resources, resize_policy: new.resize_policy, ..old.clone() })
        .collect()
}

/// Keeps everything except the metadata that every write changes.
fn keep_all(new: &mut Pod, old: &Pod) {
    let (managed, version) =
        (std::mem::take(&mut new.metadata.managed_fields), std::mem::take(&mut new.metadata.resource_version));
    *new = old.clone();
    new.metadata.managed_fields = managed;
    new.metadata.resource_version = version;
}

/// Warns about new fields, and about legacy spellings of addresses, as upstream does.
pub fn warn_pod(context: &WriteContext, pod: &Pod, old: Option<&Pod>) -> Vec<String> {
    match (old, context.subresource.as_str()) {
        (None, _) => {
            let name = warning_of_name(&pod.metadata.name, "the Pod's hostname");
            name.into_iter().chain(warnings_of_pod(pod)).collect()
        }
        (Some(_), "status") => warnings_of_addresses(&pod.status),
        _ => Vec::new(),
    }
}

fn warnings_of_addresses(status: &PodStatus) -> Vec<String> {
    let path = Path::new(json_name!(Pod.status));
    let (of_pod, of_host) = (path.child(json_name!(PodStatus.pod_ips)), path.child(json_name!(PodStatus.host_ips)));
    let pods = status.pod_ips.iter().enumerate().map(|(index, address)| (&of_pod, index, &address.ip));
    let hosts = status.host_ips.iter().enumerate().map(|(index, address)| (&of_host, index, &address.ip));
    pods.chain(hosts)
        .filter_map(|(path, index, ip)| warnings_for_ip(&path.index(index).child(json_name!(PodIP.ip)), ip))
        .collect()
}

/// Mirrors `podStrategy.CheckGracefulDelete`: a pod without a kubelet is deleted at once.
pub fn grace_of_pod(requested: Option<i64>, pod: &Pod) -> Option<i64> {
    let ended = matches!(pod.status.phase.as_str(), pod_phase::FAILED | pod_phase::SUCCEEDED);
    if pod.spec.node_name.is_empty() || ended {
        return Some(0);
    }
    let period = requested.or(pod.spec.termination_grace_period_seconds).unwrap_or(0);
    Some(if period < 0 { 1 } else { period })
}
