//! Pods: their first status, their quality of service, how long they get to end.

use std::collections::BTreeMap;

use machinery::hooks::Context;
use machinery::scalar::Quantity;

use crate::core::v1::{Pod, PodCondition, PodSpec, PodStatus, ResourceRequirements};

type ResourceList = BTreeMap<String, Quantity>;

/// The resources that quality of service is about.
const COUNTED: [&str; 2] = ["cpu", "memory"];

/// Mirrors `podStrategy.PrepareForCreate`.
pub fn create_pod(context: &Context, pod: &mut Pod, _: &Pod) {
    pod.status =
        PodStatus { phase: "Pending".into(), qos_class: quality_of_service(&pod.spec).into(), ..PodStatus::default() };
    if !pod.spec.scheduling_gates.is_empty() {
        pod.status.conditions.push(PodCondition {
            r#type: "PodScheduled".into(),
            status: "False".into(),
            last_transition_time: context.now,
            reason: "SchedulingGated".into(),
            message: "Scheduling is blocked due to non-empty scheduling gates".into(),
            ..PodCondition::default()
        });
    }
}

/// The class of a pod never changes (`podStatusStrategy.PrepareForUpdate`).
pub fn update_pod(context: &Context, new: &mut Pod, old: &Pod) {
    if context.subresource == "status" {
        new.status.qos_class = old.status.qos_class.clone();
    }
}

/// Mirrors a part of `pod.GetWarningsForPod`.
pub fn warn_pod(_: &Context, pod: &Pod, _: Option<&Pod>) -> Vec<String> {
    let lists = [("initContainers", &pod.spec.init_containers), ("containers", &pod.spec.containers)];
    let mut out = Vec::new();
    for (list, containers) in lists {
        for (index, container) in containers.iter().enumerate() {
            fractional_bytes(&format!("spec.{list}[{index}].resources"), &container.resources, &mut out);
        }
    }
    out
}

/// Amounts of bytes that are no whole numbers: accepted, and rounded by whoever uses them.
fn fractional_bytes(path: &str, resources: &ResourceRequirements, out: &mut Vec<String>) {
    for resource in ["memory", "ephemeral-storage"] {
        for (name, amounts) in [("limits", &resources.limits), ("requests", &resources.requests)] {
            if let Some(amount) = amounts.get(resource).filter(|amount| amount.milli_value() % 1000 != 0) {
                out.push(format!(
                    "{path}.{name}[{resource}]: fractional byte value \"{amount}\" is invalid, must be an integer"
                ));
            }
        }
    }
}

/// Mirrors `podStrategy.CheckGracefulDelete`: a pod that no kubelet runs ends at once.
pub fn grace_of_pod(asked: Option<i64>, pod: &Pod) -> Option<i64> {
    let ended = matches!(pod.status.phase.as_str(), "Failed" | "Succeeded");
    if pod.spec.node_name.is_empty() || ended {
        return Some(0);
    }
    let period = asked.or(pod.spec.termination_grace_period_seconds).unwrap_or(0);
    Some(if period < 0 { 1 } else { period })
}

/// `qos.ComputePodQOS`
fn quality_of_service(spec: &PodSpec) -> &'static str {
    let (mut requests, mut limits) = (ResourceList::new(), ResourceList::new());
    let mut all_limited = true;
    let pod_level = spec.resources.as_deref().filter(|r| !r.requests.is_empty() || !r.limits.is_empty());
    let containers = spec.containers.iter().chain(&spec.init_containers).map(|c| &c.resources);
    let counted: Vec<_> = pod_level.map_or_else(|| containers.collect(), |resources| vec![resources]);
    for resources in counted {
        add(&mut requests, &resources.requests);
        let limited = add(&mut limits, &resources.limits);
        all_limited &= limited == COUNTED.len();
    }
    if requests.is_empty() && limits.is_empty() {
        return "BestEffort";
    }
    let same = requests.len() == limits.len()
        && requests.iter().all(|(name, q)| limits.get(name).is_some_and(|l| equal(l, q)));
    if all_limited && same { "Guaranteed" } else { "Burstable" }
}

/// Adds what counts and is more than nothing; tells how many that were.
fn add(total: &mut ResourceList, amounts: &ResourceList) -> usize {
    let counted = amounts.iter().filter(|(name, q)| COUNTED.contains(&name.as_str()) && q.sign().is_gt());
    counted.map(|(name, q)| total.entry(name.clone()).or_default().add(q)).count()
}

fn equal(a: &Quantity, b: &Quantity) -> bool {
    let mut difference = a.clone();
    difference.sub(b);
    difference.is_zero()
}
