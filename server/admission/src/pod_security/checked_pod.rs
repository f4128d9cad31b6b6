//! The input of checks: a pod or a pod template.

use std::collections::BTreeMap;

use generated::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use generated::batch::v1::{CronJob, Job};
use generated::core::v1::{
    ContainerPort, Lifecycle, Pod, PodSpec, PodTemplate, PodTemplateSpec, Probe, ReplicationController,
    SecurityContext, os_name,
};
use machinery::reflect::Owned;

/// Metadata and spec of a pod.
pub struct CheckedPod<'p> {
    pub annotations: &'p BTreeMap<String, String>,
    pub spec: &'p PodSpec,
    /// Init containers, containers, and ephemeral containers, in the order in which messages list
    /// them.
    pub containers: Vec<Container<'p>>,
}

/// The common fields of all three container types.
pub struct Container<'p> {
    pub name: &'p str,
    pub image: &'p str,
    pub ephemeral: bool,
    pub security: Option<&'p SecurityContext>,
    pub ports: &'p [ContainerPort],
    pub probes: [Option<&'p Probe>; 3],
    pub lifecycle: Option<&'p Lifecycle>,
}

macro_rules! container {
    ($c:expr, $ephemeral:expr) => {
        Container {
            name: &$c.name,
            image: &$c.image,
            ephemeral: $ephemeral,
            security: $c.security_context.as_deref(),
            ports: &$c.ports,
            probes: [$c.liveness_probe.as_deref(), $c.readiness_probe.as_deref(), $c.startup_probe.as_deref()],
            lifecycle: $c.lifecycle.as_deref(),
        }
    };
}

impl<'p> CheckedPod<'p> {
    pub fn of_pod(pod: &'p Pod) -> Self {
        Self::new(&pod.metadata.annotations, &pod.spec)
    }

    /// Returns the pod template of an object, or `None` when it has none.
    pub fn of_template(object: &'p Owned) -> Option<Self> {
        let of = |template: &'p PodTemplateSpec| Self::new(&template.metadata.annotations, &template.spec);
        if let Some(o) = object.downcast_ref::<Deployment>() {
            return Some(of(&o.spec.template));
        }
        if let Some(o) = object.downcast_ref::<ReplicaSet>() {
            return Some(of(&o.spec.template));
        }
        if let Some(o) = object.downcast_ref::<StatefulSet>() {
            return Some(of(&o.spec.template));
        }
        if let Some(o) = object.downcast_ref::<DaemonSet>() {
            return Some(of(&o.spec.template));
        }
        if let Some(o) = object.downcast_ref::<Job>() {
            return Some(of(&o.spec.template));
        }
        if let Some(o) = object.downcast_ref::<CronJob>() {
            return Some(of(&o.spec.job_template.spec.template));
        }
        if let Some(o) = object.downcast_ref::<PodTemplate>() {
            return Some(of(&o.template));
        }
        object.downcast_ref::<ReplicationController>()?.spec.template.as_deref().map(of)
    }

    fn new(annotations: &'p BTreeMap<String, String>, spec: &'p PodSpec) -> Self {
        let init = spec.init_containers.iter().map(|c| container!(c, false));
        let usual = spec.containers.iter().map(|c| container!(c, false));
        let ephemeral = spec.ephemeral_containers.iter().map(|c| container!(c.ephemeral_container_common, true));
        CheckedPod { annotations, spec, containers: init.chain(usual).chain(ephemeral).collect() }
    }

    /// Whether the pod runs in a user namespace, where more is allowed.
    pub fn has_user_namespace(&self) -> bool {
        self.spec.host_users == Some(false)
    }

    pub fn runs_on_windows(&self) -> bool {
        self.spec.os.as_ref().is_some_and(|os| os.name == os_name::WINDOWS)
    }
}
