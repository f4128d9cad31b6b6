use crate::core::{ConditionStatus, PodTemplateSpec};
use crate::meta::{LabelSelector, ObjectMeta};

/// Keeps a fixed number of identical pods running; usually managed by a Deployment.
#[kind(plural = "replicasets", short = "rs", category = "all", scope = Namespaced)]
#[versions(
    v1(introduced = "1.9"),
    v1beta2(introduced = "1.8", deprecated = "1.9", removed = "1.16", replacement = "apps/v1 ReplicaSet")
)]
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
#[column("Selector", selector(spec.selector), priority = 1)]
#[default(spec.replicas = 1)]
#[strategy(warnings = warn_replica_set)]
#[check(spec, below, when(not(subresource = status)))]
#[check(spec.selector, immutable)]
#[check(status, below, when(subresource = status))]
pub struct ReplicaSet {
    /// Name, namespace, labels and annotations of the ReplicaSet.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Replica count, selector and pod template of the ReplicaSet.
    #[field(2)]
    pub spec: ReplicaSetSpec,

    /// Pod counts most recently observed for the ReplicaSet.
    #[field(3)]
    pub status: ReplicaSetStatus,
}

/// Settings for a ReplicaSet's pods.
#[condition(usable, holds(selector, below))]
#[check(replicas, not_negative)]
#[check(minReadySeconds, not_negative)]
#[check(selector, required, below)]
#[check(
    selector,
    invalid = "empty selector is invalid for deployment",
    when(set(selector), unset(selector.matchLabels), unset(selector.matchExpressions))
)]
#[check(selector, invalid = "invalid label selector", when(not(usable)))]
#[check(
    template.metadata.labels,
    selected(selector, "`selector` does not match template `labels`"),
    when(usable)
)]
#[check(template, by_hand = validate_template, when(usable))]
#[check(template.spec.restartPolicy, one_of(Always), when(usable))]
#[check(
    template.spec.activeDeadlineSeconds,
    forbidden = "activeDeadlineSeconds in ReplicaSet is not Supported",
    when(usable)
)]
pub struct ReplicaSetSpec {
    /// Number of pods to maintain; 1 when omitted.
    #[field(1)]
    pub replicas: Option<i32>,

    /// Seconds a pod must stay ready before the ReplicaSet counts it available.
    #[field(4)]
    pub min_ready_seconds: i32,

    /// Labels of the pods to count; must match the template, immutable in v1.
    #[field(2, required)]
    pub selector: Option<LabelSelector>,

    /// Blueprint for replacement pods; existing pods are not changed by edits.
    #[field(3)]
    pub template: PodTemplateSpec,
}

/// Pod counts and conditions reported by the ReplicaSet controller.
#[check(replicas, not_negative)]
#[check(fullyLabeledReplicas, not_negative)]
#[check(readyReplicas, not_negative)]
#[check(availableReplicas, not_negative)]
#[check(observedGeneration, not_negative)]
#[check(terminatingReplicas, not_negative)]
#[check(fullyLabeledReplicas, at_most(replicas, "cannot be greater than status.replicas"))]
#[check(readyReplicas, at_most(replicas, "cannot be greater than status.replicas"))]
#[check(availableReplicas, at_most(replicas, "cannot be greater than status.replicas"))]
#[check(availableReplicas, at_most(readyReplicas, "cannot be greater than readyReplicas"))]
pub struct ReplicaSetStatus {
    /// Non-terminating pods that currently match the ReplicaSet.
    #[field(1, required)]
    pub replicas: i32,

    /// Pods carrying every label from the template.
    #[field(2)]
    pub fully_labeled_replicas: i32,

    /// Pods of this ReplicaSet currently passing readiness.
    #[field(4)]
    pub ready_replicas: i32,

    /// ReplicaSet pods that have been ready long enough.
    #[field(5)]
    pub available_replicas: i32,

    /// ReplicaSet pods being deleted but not gone yet; feature-gated.
    #[field(7)]
    pub terminating_replicas: Option<i32>,

    /// ReplicaSet generation the controller most recently acted on.
    #[field(3)]
    pub observed_generation: i64,

    /// Latest conditions reported for the ReplicaSet.
    #[field(6, list = map(type), patch = merge)]
    pub conditions: Vec<ReplicaSetCondition>,
}

/// One observed aspect of a ReplicaSet's state.
pub struct ReplicaSetCondition {
    /// Aspect reported; `ReplicaFailure` signals trouble creating or deleting pods.
    #[field(1, required)]
    pub r#type: ReplicaSetConditionType,

    /// Whether the ReplicaSet condition holds: `True`, `False` or `Unknown`.
    #[field(2, required)]
    pub status: ConditionStatus,

    /// When the ReplicaSet condition last switched its status.
    #[field(3, always)]
    pub last_transition_time: Time,

    /// CamelCase code, for example `FailedCreate` on quota problems.
    #[field(4)]
    pub reason: String,

    /// Readable detail on the ReplicaSet condition.
    #[field(5)]
    pub message: String,
}

/// Aspects reported in a ReplicaSet's conditions.
#[open]
pub enum ReplicaSetConditionType {
    ReplicaFailure,
}
