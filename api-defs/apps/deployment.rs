use crate::core::{ConditionStatus, PodTemplateSpec};
use crate::meta::{LabelSelector, ObjectMeta};

/// Keeps a set of identical pods running and rolls out changes gradually.
#[kind(plural = "deployments", short = "deploy", category = "all", scope = Namespaced)]
#[versions(
    v1(introduced = "1.9"),
    v1beta2(introduced = "1.8", deprecated = "1.9", removed = "1.16", replacement = "apps/v1 Deployment"),
    v1beta1(introduced = "1.6", deprecated = "1.8", removed = "1.16", replacement = "apps/v1 Deployment")
)]
#[subresource(
    scale,
    kind = autoscaling::v1::Scale,
    replicas = spec.replicas,
    observed = status.replicas,
    selector = spec.selector
)]
#[subresource(status, resets(spec, metadata.labels))]
#[column("Ready", by_hand = deployment_ready, reads(spec.replicas, status.readyReplicas), "Ready replicas of those wanted.")]
#[column("Up-to-date", status.updatedReplicas)]
#[column("Available", status.availableReplicas)]
#[column("Age", age)]
#[column("Containers", join(spec.template.spec.containers.name), priority = 1)]
#[column("Images", join(spec.template.spec.containers.image), priority = 1)]
#[column("Selector", selector(spec.selector) or "", priority = 1)]
#[default(spec.replicas = 1)]
#[default(spec.strategy.type = RollingUpdate)]
#[default(spec.revisionHistoryLimit = 10)]
#[default(spec.progressDeadlineSeconds = 600)]
#[default(by_hand = default_deployment)]
#[normalize(by_hand = normalize_deployment)]
#[strategy(update = update_deployment, warnings = warn_deployment)]
#[check(spec, below, when(not(subresource = status)))]
#[check(spec.selector, immutable)]
#[check(status, below, when(subresource = status))]
pub struct Deployment {
    /// Name, namespace, labels and annotations of the Deployment.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Replica count, pod template and rollout settings of the Deployment.
    #[field(2)]
    pub spec: DeploymentSpec,

    /// Rollout progress and replica counts of the Deployment.
    #[field(3)]
    pub status: DeploymentStatus,
}

/// Settings for a Deployment's pods and rollouts.
#[condition(usable, holds(selector, below))]
#[check(replicas, not_negative)]
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
#[check(strategy, below)]
#[check(minReadySeconds, not_negative)]
#[check(revisionHistoryLimit, not_negative)]
#[check(
    progressDeadlineSeconds,
    not_negative,
    more_than(minReadySeconds, "must be greater than minReadySeconds")
)]
pub struct DeploymentSpec {
    /// Number of pods wanted; 1 when omitted, 0 to stop everything.
    #[field(1)]
    pub replicas: Option<i32>,

    /// Labels identifying the Deployment's pods; must match the template, immutable in v1.
    #[field(2, required)]
    pub selector: Option<LabelSelector>,

    /// Pod blueprint; any change to it starts a new rollout.
    #[field(3, required)]
    pub template: PodTemplateSpec,

    /// How old pods give way to new ones; `RollingUpdate` by default.
    #[field(4, patch = retain_keys)]
    pub strategy: DeploymentStrategy,

    /// Seconds a new pod must stay ready before the rollout continues; default 0.
    #[field(5)]
    pub min_ready_seconds: i32,

    /// Old ReplicaSets to keep for `kubectl rollout undo`; default 10.
    #[field(6)]
    pub revision_history_limit: Option<i32>,

    /// Halts rollouts while true, so several edits can be batched.
    #[field(7)]
    pub paused: bool,

    /// Seconds without progress before the rollout is flagged as failed; default 600.
    #[field(9)]
    pub progress_deadline_seconds: Option<i32>,
}

/// How a Deployment swaps old pods for new ones.
#[check(
    rollingUpdate,
    forbidden = "may not be specified when strategy `type` is 'Recreate'",
    when(type = Recreate)
)]
#[check(
    rollingUpdate,
    required = "this should be defaulted and never be nil",
    below,
    when(type = RollingUpdate)
)]
#[check(self, unsupported(Recreate, RollingUpdate), when(not(type = (Recreate, RollingUpdate))))]
pub struct DeploymentStrategy {
    /// Value `Recreate` kills all old pods first; `RollingUpdate` (default) overlaps them.
    #[field(1)]
    pub r#type: DeploymentStrategyType,

    /// Surge and unavailability limits; valid only with type `RollingUpdate`.
    #[field(2)]
    pub rolling_update: Option<RollingUpdateDeployment>,
}

/// Replacement methods a Deployment can use.
pub enum DeploymentStrategyType {
    Recreate,
    RollingUpdate,
}

/// Limits on disruption while Deployment pods are replaced.
#[check(maxUnavailable, not_negative, format = percent)]
#[check(maxSurge, not_negative, format = percent)]
#[check(
    maxUnavailable,
    invalid = "may not be 0 when `maxSurge` is 0",
    when(zero(maxUnavailable), zero(maxSurge))
)]
#[check(maxUnavailable, format = percent_of_at_most_all)]
pub struct RollingUpdateDeployment {
    /// Pods (count or percent, rounded down) that may be missing; default 25%.
    #[field(1)]
    pub max_unavailable: Option<IntOrString>,

    /// Extra pods (count or percent, rounded up) above `replicas`; default 25%.
    #[field(2)]
    pub max_surge: Option<IntOrString>,
}

/// Replica counts and conditions reported by the Deployment controller.
#[check(observedGeneration, not_negative)]
#[check(replicas, not_negative)]
#[check(updatedReplicas, not_negative)]
#[check(readyReplicas, not_negative)]
#[check(availableReplicas, not_negative)]
#[check(unavailableReplicas, not_negative)]
#[check(terminatingReplicas, not_negative)]
#[check(collisionCount, not_negative)]
#[check(updatedReplicas, at_most(replicas, "cannot be greater than status.replicas"))]
#[check(readyReplicas, at_most(replicas, "cannot be greater than status.replicas"))]
#[check(availableReplicas, at_most(replicas, "cannot be greater than status.replicas"))]
#[check(availableReplicas, at_most(readyReplicas, "cannot be greater than readyReplicas"))]
#[check(collisionCount, grows = "cannot be decremented")]
pub struct DeploymentStatus {
    /// Deployment generation the controller most recently acted on.
    #[field(1)]
    pub observed_generation: i64,

    /// Non-terminating pods owned by this Deployment, across all revisions.
    #[field(2)]
    pub replicas: i32,

    /// Live pods that already use the current template.
    #[field(3)]
    pub updated_replicas: i32,

    /// Pods of this Deployment currently passing readiness.
    #[field(7)]
    pub ready_replicas: i32,

    /// Pods ready for at least `minReadySeconds`.
    #[field(4)]
    pub available_replicas: i32,

    /// Pods still missing before the Deployment reaches full availability.
    #[field(5)]
    pub unavailable_replicas: i32,

    /// Pods shutting down that have not yet finished; feature-gated.
    #[field(9)]
    pub terminating_replicas: Option<i32>,

    /// Latest Deployment conditions, e.g. `Available` and `Progressing`.
    #[field(6, list = map(type), patch = merge)]
    pub conditions: Vec<DeploymentCondition>,

    /// ReplicaSet name hash clashes so far, used by the controller internally.
    #[field(8)]
    pub collision_count: Option<i32>,
}

/// One observed aspect of a Deployment's rollout.
pub struct DeploymentCondition {
    /// Aspect reported: `Available`, `Progressing` or `ReplicaFailure`.
    #[field(1, required)]
    pub r#type: DeploymentConditionType,

    /// Whether the Deployment condition holds: `True`, `False` or `Unknown`.
    #[field(2, required)]
    pub status: ConditionStatus,

    /// When the controller last refreshed this condition, even without a change.
    #[field(6, always)]
    pub last_update_time: Time,

    /// When the Deployment condition last switched its status.
    #[field(7, always)]
    pub last_transition_time: Time,

    /// CamelCase code such as `NewReplicaSetAvailable` or `ProgressDeadlineExceeded`.
    #[field(4)]
    pub reason: String,

    /// Readable detail on the Deployment condition.
    #[field(5)]
    pub message: String,
}

/// Aspects reported in a Deployment's conditions.
#[open]
pub enum DeploymentConditionType {
    Available,
    Progressing,
    ReplicaFailure,
}

mod v1beta1 {
    #[differs(Deployment)]
    #[default(spec.replicas = 1)]
    #[default(spec.strategy.type = RollingUpdate)]
    #[default(spec.revisionHistoryLimit = 2)]
    #[default(spec.progressDeadlineSeconds = 600)]
    #[default(by_hand = default_v1beta1_deployment)]
    #[normalize(none)]
    struct Deployment {}

    #[convert(Deployment, by_hand = v1beta1_deployment, here(spec.rollbackTo))]
    struct Rollback;

    #[differs(DeploymentSpec)]
    struct DeploymentSpec {
        /// Labels identifying the Deployment's pods; must match the template, immutable in v1.
        #[field(2)]
        selector: Option<LabelSelector>,

        /// Revision to return to; obsolete, use `kubectl rollout undo`.
        #[field(8, deprecated)]
        rollback_to: Option<RollbackConfig>,
    }
}
