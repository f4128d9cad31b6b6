//! Columns, row conditions and selectable fields of pods. The state of a pod is derived from its
//! containers, starting with the first unfinished init container.

use std::collections::{HashMap, HashSet};

use apimachinery::meta::v1::row_condition_type;
use machinery::print::{Cell, PrintContext, RowCondition};
use machinery::scalar::Time;

use generated::core::v1::{
    Container, ContainerStateTerminated, ContainerStatus, Pod, condition_status, container_restart_policy,
    pod_condition_type, pod_phase,
};

pub fn pod_ips_label(_: &Pod) -> String {
    // The label is accepted, but never set (upstream's `ToSelectableFields` of pods).
    String::new()
}

pub fn pod_readiness_gates(pod: &Pod, _: &PrintContext) -> Cell {
    let gates = &pod.spec.readiness_gates;
    if gates.is_empty() {
        return "<none>".into();
    }
    // Among conditions of one type, the first one counts.
    let conditions = pod.status.conditions.iter().rev();
    let conditions: HashMap<&str, bool> =
        conditions.map(|c| (c.r#type.as_str(), c.status == condition_status::TRUE)).collect();
    let passed = gates.iter().filter(|gate| conditions.get(gate.condition_type.as_str()) == Some(&true));
    format!("{}/{}", passed.count(), gates.len()).into()
}

pub fn pod_ready(pod: &Pod, _: &PrintContext) -> Cell {
    let summary = Summary::of(pod);
    let sidecars = pod.spec.init_containers.iter().filter(|c| is_sidecar(c)).count();
    format!("{}/{}", summary.ready, pod.spec.containers.len() + sidecars).into()
}

pub fn pod_restarts(pod: &Pod, context: &PrintContext) -> Cell {
    let Restarts { count, last } = Summary::of(pod).restarts;
    if count == 0 || last.is_zero() {
        return count.to_string().into();
    }
    format!("{count} ({} ago)", context.age(last)).into()
}

pub fn pod_status(pod: &Pod, _: &PrintContext) -> Cell {
    if pod.metadata.deletion_timestamp.is_some() {
        if pod.status.reason == "NodeLost" {
            return "Unknown".into();
        }
        if !matches!(pod.status.phase.as_str(), pod_phase::SUCCEEDED | pod_phase::FAILED) {
            return "Terminating".into();
        }
    }
    Summary::of(pod).reason.into()
}

/// Row conditions of pods: a finished pod is marked as completed, so that clients can grey it out.
pub fn pod_row_conditions(pod: &Pod) -> Vec<RowCondition> {
    let (reason, message) = match pod.status.phase.as_str() {
        pod_phase::SUCCEEDED => (pod_phase::SUCCEEDED, "The pod has completed successfully."),
        pod_phase::FAILED => (pod_phase::FAILED, "The pod failed."),
        _ => return Vec::new(),
    };
    vec![RowCondition { kind: row_condition_type::COMPLETED, status: condition_status::TRUE, reason, message }]
}

/// Number of restarts of containers, and the time at which one last ended.
#[derive(Clone, Copy, Default)]
struct Restarts {
    count: i32,
    last: Time,
}

impl Restarts {
    fn add(&mut self, status: &ContainerStatus) {
        self.count += status.restart_count;
        if let Some(terminated) = &status.last_state.terminated {
            self.last = self.last.max(terminated.finished_at);
        }
    }
}

/// State of a pod's containers, as shown in columns.
struct Summary {
    reason: String,
    ready: usize,
    restarts: Restarts,
}

impl Summary {
    fn of(pod: &Pod) -> Self {
        let mut summary = Summary { reason: first_reason(pod), ready: 0, restarts: Restarts::default() };
        let (is_initializing, sidecar_restarts) = summary.add_init_containers(pod);
        if !is_initializing || has_condition(pod, pod_condition_type::INITIALIZED) {
            // Restarts of finished init containers no longer count.
            summary.restarts = sidecar_restarts;
            summary.add_containers(pod);
        }
        summary
    }

    /// Returns whether an init container is unfinished, and the restarts of those that keep running.
    fn add_init_containers(&mut self, pod: &Pod) -> (bool, Restarts) {
        let mut sidecar_restarts = Restarts::default();
        let sidecars = pod.spec.init_containers.iter().filter(|container| is_sidecar(container));
        let sidecars: HashSet<&str> = sidecars.map(|container| container.name.as_str()).collect();
        for (index, status) in pod.status.init_container_statuses.iter().enumerate() {
            let is_sidecar = sidecars.contains(status.name.as_str());
            self.restarts.add(status);
            if is_sidecar {
                sidecar_restarts.add(status);
            }
            if status.state.terminated.as_ref().is_some_and(|t| t.exit_code == 0) {
                continue;
            }
            if is_sidecar && status.started == Some(true) {
                self.ready += usize::from(status.ready);
                continue;
            }
            self.reason = format!("Init:{}", unfinished(status, index, pod.spec.init_containers.len()));
            return (true, sidecar_restarts);
        }
        (false, sidecar_restarts)
    }

    /// Iterates from last to first, so that the first container's reason is kept.
    fn add_containers(&mut self, pod: &Pod) {
        let mut is_running = false;
        let mut failure = None;
        for status in pod.status.container_statuses.iter().rev() {
            self.restarts.add(status);
            let state = &status.state;
            match (&state.waiting, &state.terminated) {
                (Some(waiting), _) if !waiting.reason.is_empty() => self.reason.clone_from(&waiting.reason),
                (_, Some(terminated)) => {
                    self.reason = ended(terminated);
                    if terminated.exit_code != 0 {
                        failure = Some(self.reason.clone());
                    }
                }
                _ if status.ready && state.running.is_some() => {
                    is_running = true;
                    self.ready += 1;
                }
                _ => {}
            }
        }
        if self.reason != "Completed" {
            return;
        }
        // A single finished container does not determine the state of the pod.
        match failure {
            _ if is_running && has_condition(pod, pod_condition_type::READY) => self.reason = "Running".into(),
            Some(failure) => self.reason = failure,
            None if is_running => self.reason = "NotReady".into(),
            None => {}
        }
    }
}

/// The reason from the pod's status, before its containers are considered.
fn first_reason(pod: &Pod) -> String {
    let is_gated = |c: &generated::core::v1::PodCondition| {
        c.r#type == pod_condition_type::POD_SCHEDULED && c.reason == "SchedulingGated"
    };
    if pod.status.conditions.iter().any(is_gated) {
        return "SchedulingGated".into();
    }
    let reason = if pod.status.reason.is_empty() { &pod.status.phase } else { &pod.status.reason };
    reason.clone()
}

/// Whether an init container keeps running beside the main containers (KEP-753).
fn is_sidecar(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some(container_restart_policy::ALWAYS)
}

fn has_condition(pod: &Pod, kind: &str) -> bool {
    pod.status.conditions.iter().any(|c| c.r#type == kind && c.status == condition_status::TRUE)
}

/// The reason why an init container is unfinished, or the number of finished ones before it.
fn unfinished(status: &ContainerStatus, index: usize, total: usize) -> String {
    match (&status.state.terminated, &status.state.waiting) {
        (Some(terminated), _) => ended(terminated),
        (None, Some(waiting)) if !matches!(waiting.reason.as_str(), "" | "PodInitializing") => waiting.reason.clone(),
        _ => format!("{index}/{total}"),
    }
}

fn ended(terminated: &ContainerStateTerminated) -> String {
    match (terminated.reason.as_str(), terminated.signal) {
        ("", 0) => format!("ExitCode:{}", terminated.exit_code),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_string(),
    }
}
