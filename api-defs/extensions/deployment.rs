use crate::core::{ConditionStatus, PodTemplateSpec};
use crate::meta::{LabelSelector, ObjectMeta};

/// Retired beta API for rolling out stateless pods; migrate manifests to `apps/v1`.
#[kind(stored_as = apps::v1::Deployment, list)]
#[versions(v1beta1(introduced = "1.1", deprecated = "1.8", removed = "1.16", replacement = "apps/v1 Deployment"))]
#[default(spec.replicas = 1)]
#[default(spec.strategy.type = RollingUpdate)]
#[default(spec.revisionHistoryLimit = 2147483647)]
#[default(spec.progressDeadlineSeconds = 2147483647)]
#[default(by_hand = default_deployment)]
pub struct Deployment {
    /// Naming, labels and annotations identifying this Deployment within its namespace.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Desired pod template, replica count and rollout settings.
    #[field(2)]
    pub spec: DeploymentSpec,

    /// Rollout progress and replica counts last reported by the deployment controller.
    #[field(3)]
    pub status: DeploymentStatus,
}

#[convert(Deployment, by_hand = deployment, here(spec.rollbackTo))]
struct Rollback;

/// Settings for a legacy Deployment: template, replica count and rollout rules.
pub struct DeploymentSpec {
    /// How many pods to keep running; 1 when omitted.
    #[field(1)]
    pub replicas: Option<i32>,

    /// Labels used to find managed ReplicaSets and pods; template labels serve as default.
    #[field(2)]
    pub selector: Option<LabelSelector>,

    /// Pod blueprint; editing it triggers a new rollout.
    #[field(3, required)]
    pub template: PodTemplateSpec,

    /// How old pods make way for new ones during a rollout.
    #[field(4, patch = retain_keys)]
    pub strategy: DeploymentStrategy,

    /// Seconds without a crash before a ready pod is treated as available; default 0.
    #[field(5)]
    pub min_ready_seconds: i32,

    /// Old ReplicaSets to keep for undo; effectively unlimited by default in this version.
    #[field(6)]
    pub revision_history_limit: Option<i32>,

    /// Freezes rollouts while true, so template edits accumulate without taking effect.
    #[field(7)]
    pub paused: bool,

    /// Deprecated trigger: filling it makes the controller revert, then clear the field.
    #[field(8, deprecated)]
    pub rollback_to: Option<RollbackConfig>,

    /// Seconds a rollout may stall before being flagged as failed; practically disabled by default here.
    #[field(9)]
    pub progress_deadline_seconds: Option<i32>,
}

/// Picks the rollout method and its tuning knobs.
pub struct DeploymentStrategy {
    /// Rollout method: `RollingUpdate` by default, or `Recreate` to stop old pods first.
    #[field(1)]
    pub r#type: DeploymentStrategyType,

    /// Surge and unavailability limits, valid solely with the `RollingUpdate` type.
    #[field(2)]
    pub rolling_update: Option<RollingUpdateDeployment>,
}

/// Gradual pod replacement versus tearing everything down first.
#[open]
pub enum DeploymentStrategyType {
    Recreate,
    RollingUpdate,
}

/// Limits on extra and missing pods while a rollout proceeds.
pub struct RollingUpdateDeployment {
    /// Pods allowed below the desired count, absolute or percentage rounded down; default 1 here.
    #[field(1)]
    pub max_unavailable: Option<IntOrString>,

    /// Pods allowed above the desired count, absolute or percentage rounded up; default 1 here.
    #[field(2)]
    pub max_surge: Option<IntOrString>,
}

/// Replica counters and conditions that show where a rollout stands.
pub struct DeploymentStatus {
    /// Last spec generation acted upon; compare it with `metadata.generation` to detect lag.
    #[field(1)]
    pub observed_generation: i64,

    /// Live pods matched by the selector, excluding those shutting down.
    #[field(2)]
    pub replicas: i32,

    /// Pods already running the newest template.
    #[field(3)]
    pub updated_replicas: i32,

    /// Pods currently passing readiness checks.
    #[field(7)]
    pub ready_replicas: i32,

    /// Pods that stayed ready for `minReadySeconds` or longer.
    #[field(4)]
    pub available_replicas: i32,

    /// Pods still missing before the Deployment reaches full availability.
    #[field(5)]
    pub unavailable_replicas: i32,

    /// Pods being deleted that have not fully exited yet; needs a feature gate.
    #[field(9)]
    pub terminating_replicas: Option<i32>,

    /// Rollout observations such as availability and progress, one per type.
    #[field(6, list = map(type), patch = merge)]
    pub conditions: Vec<DeploymentCondition>,

    /// ReplicaSet naming clashes so far, mixed into the pod template hash to avoid repeats.
    #[field(8)]
    pub collision_count: Option<i32>,
}

/// One named observation about a Deployment's rollout.
pub struct DeploymentCondition {
    /// Rollout aspect covered, for example `Available` or `Progressing`.
    #[field(1, required)]
    pub r#type: DeploymentConditionType,

    /// Outcome of the check: `True`, `False` or `Unknown`.
    #[field(2, required)]
    pub status: ConditionStatus,

    /// When the controller last refreshed this entry, even without a status flip.
    #[field(6, always)]
    pub last_update_time: Time,

    /// When the status value last changed.
    #[field(7, always)]
    pub last_transition_time: Time,

    /// CamelCase code behind the latest change, like `ProgressDeadlineExceeded`.
    #[field(4)]
    pub reason: String,

    /// Readable explanation of the rollout condition.
    #[field(5)]
    pub message: String,
}

/// Known rollout conditions: availability, progress, and pod creation failure.
#[open]
pub enum DeploymentConditionType {
    Available,
    Progressing,
    ReplicaFailure,
}
