use crate::meta::ObjectMeta;

/// Predecessor of ReplicaSet that keeps a number of identical pods running.
#[kind(
    plural = "replicationcontrollers",
    short = "rc",
    category = "all",
    scope = Namespaced,
    prefix = "controllers",
    gc = orphan,
    name = long_name
)]
#[versions(v1(introduced = "1.0"))]
#[subresource(
    scale,
    kind = autoscaling::v1::Scale,
    replicas = spec.replicas,
    observed = status.replicas,
    selector = spec.selector
)]
#[subresource(status, resets(spec))]
#[column("Desired", integer, spec.replicas)]
#[column("Current", integer, status.replicas)]
#[column("Ready", integer, status.readyReplicas)]
#[column("Age", age)]
#[column("Containers", join(spec.template.spec.containers.name), priority = 1)]
#[column("Images", join(spec.template.spec.containers.image), priority = 1)]
#[column("Selector", labels(spec.selector), priority = 1)]
#[selectable(status.replicas)]
#[default(by_hand = default_replication_controller)]
#[strategy(warnings = warn_replication_controller)]
#[check(spec, below, when(not(subresource = status)))]
#[check(status, below, when(subresource = status))]
pub struct ReplicationController {
    /// Name and labels; labels default to those of the pod template.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// How many pods to keep and what they look like.
    #[field(2)]
    pub spec: ReplicationControllerSpec,

    /// Counts and conditions last recorded for the pods.
    #[field(3)]
    pub status: ReplicationControllerStatus,
}

/// Desired pod count, selector and template.
#[check(minReadySeconds, not_negative)]
#[check(selector, filled)]
#[check(replicas, required, not_negative)]
#[check(template, required)]
#[check(self, by_hand = validate_controller_template, when(set(template)))]
#[check(
    template.spec.restartPolicy,
    unsupported(Always),
    when(not(template.spec.restartPolicy = Always))
)]
#[check(
    template.spec.activeDeadlineSeconds,
    forbidden = "activeDeadlineSeconds in ReplicationController is not Supported"
)]
pub struct ReplicationControllerSpec {
    /// Pods to keep alive; 1 if not given.
    #[field(1, default = 1)]
    pub replicas: Option<i32>,

    /// Seconds a pod must remain ready to be counted available; 0 by default.
    #[field(4, default = 0)]
    pub min_ready_seconds: i32,

    /// Labels of the managed pods; taken from the template when blank.
    #[field(2, map = atomic)]
    pub selector: Map<String, String>,

    /// Blueprint for replacement pods; its restart policy must be `Always`.
    #[field(3)]
    pub template: Option<PodTemplateSpec>,
}

/// Pod counts observed by the ReplicationController.
#[check(replicas, not_negative)]
#[check(fullyLabeledReplicas, not_negative)]
#[check(readyReplicas, not_negative)]
#[check(availableReplicas, not_negative)]
#[check(observedGeneration, not_negative)]
#[check(fullyLabeledReplicas, at_most(replicas, "cannot be greater than status.replicas"))]
#[check(readyReplicas, at_most(replicas, "cannot be greater than status.replicas"))]
#[check(availableReplicas, at_most(replicas, "cannot be greater than status.replicas"))]
#[check(availableReplicas, at_most(readyReplicas, "cannot be greater than readyReplicas"))]
pub struct ReplicationControllerStatus {
    /// Pods existing right now that match the selector.
    #[field(1, required)]
    pub replicas: i32,

    /// Pods carrying every label of the template.
    #[field(2)]
    pub fully_labeled_replicas: i32,

    /// Pods whose `Ready` condition is true.
    #[field(4)]
    pub ready_replicas: i32,

    /// Pods that have stayed ready for `minReadySeconds`.
    #[field(5)]
    pub available_replicas: i32,

    /// Spec generation the controller acted on last.
    #[field(3)]
    pub observed_generation: i64,

    /// Noteworthy observations, mainly creation failures.
    #[field(6, list = map(type), patch = merge)]
    pub conditions: Vec<ReplicationControllerCondition>,
}

/// Observation about a ReplicationController, such as failing to create pods.
pub struct ReplicationControllerCondition {
    /// Aspect covered; `ReplicaFailure` is the one defined.
    #[field(1, required)]
    pub r#type: ReplicationControllerConditionType,

    /// Whether the problem is currently present.
    #[field(2, required)]
    pub status: ConditionStatus,

    /// When the observation last changed value.
    #[field(3, always)]
    pub last_transition_time: Time,

    /// Terse CamelCase cause, e.g. `FailedCreate`.
    #[field(4)]
    pub reason: String,

    /// Readable cause, like an exceeded quota.
    #[field(5)]
    pub message: String,
}

/// Aspect reported for a ReplicationController; only `ReplicaFailure` exists.
#[open]
pub enum ReplicationControllerConditionType {
    ReplicaFailure,
}
