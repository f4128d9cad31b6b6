use crate::core::{ConditionStatus, PodTemplateSpec};
use crate::meta::{LabelSelector, ObjectMeta};

/// Retired beta API for running one pod per matching node; use `apps/v1` instead.
#[kind(stored_as = apps::v1::DaemonSet, list)]
#[versions(v1beta1(introduced = "1.1", deprecated = "1.8", removed = "1.16", replacement = "apps/v1 DaemonSet"))]
#[default(spec.updateStrategy.type = OnDelete)]
#[default(spec.revisionHistoryLimit = 10)]
#[default(by_hand = default_daemon_set)]
pub struct DaemonSet {
    /// Naming, labels and annotations identifying this DaemonSet within its namespace.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Which pod to run on each eligible node and how updates roll out.
    #[field(2)]
    pub spec: DaemonSetSpec,

    /// Per-node scheduling and readiness counts last written by the DaemonSet controller.
    #[field(3)]
    pub status: DaemonSetStatus,
}

#[convert(DaemonSet, by_hand = daemon_set, here(spec.templateGeneration))]
struct TemplateGeneration;

/// Settings for a legacy DaemonSet: pod template, selector and update behaviour.
pub struct DaemonSetSpec {
    /// Labels the DaemonSet uses to recognise its pods; must agree with the template labels.
    #[field(1)]
    pub selector: Option<LabelSelector>,

    /// Pod blueprint stamped out once per eligible node.
    #[field(2, required)]
    pub template: PodTemplateSpec,

    /// Controls how existing pods get replaced when the template changes.
    #[field(3)]
    pub update_strategy: DaemonSetUpdateStrategy,

    /// Seconds a fresh pod must stay ready before counting as available; 0 by default.
    #[field(4)]
    pub min_ready_seconds: i32,

    /// Deprecated counter bumped with every template change.
    #[field(5, deprecated)]
    pub template_generation: i64,

    /// Number of old ControllerRevisions retained for rollback, 10 unless overridden.
    #[field(6)]
    pub revision_history_limit: Option<i32>,
}

/// Choice between automatic and manual replacement of outdated daemon pods.
pub struct DaemonSetUpdateStrategy {
    /// Replacement mode; in this beta version `OnDelete` applies when unset.
    #[field(1)]
    pub r#type: DaemonSetUpdateStrategyType,

    /// Pace limits, read only when `type` is `RollingUpdate`.
    #[field(2)]
    pub rolling_update: Option<RollingUpdateDaemonSet>,
}

/// Automatic pod replacement versus waiting for manual deletion.
#[open]
pub enum DaemonSetUpdateStrategyType {
    RollingUpdate,
    OnDelete,
}

/// Limits how fast daemon pods are replaced during an update.
pub struct RollingUpdateDaemonSet {
    /// Nodes, absolute or percentage, that may be without a working daemon pod; default 1.
    #[field(1)]
    pub max_unavailable: Option<IntOrString>,

    /// Nodes that may briefly run old and new daemon pods together; default 0.
    #[field(2)]
    pub max_surge: Option<IntOrString>,
}

/// Node-level counters describing how far the DaemonSet has been rolled out.
pub struct DaemonSetStatus {
    /// Eligible nodes that already have at least one daemon pod.
    #[field(1, required)]
    pub current_number_scheduled: i32,

    /// Nodes running a daemon pod although they no longer qualify.
    #[field(2, required)]
    pub number_misscheduled: i32,

    /// Nodes that qualify for a daemon pod in total.
    #[field(3, required)]
    pub desired_number_scheduled: i32,

    /// Eligible nodes whose daemon pod passes its readiness checks.
    #[field(4, required)]
    pub number_ready: i32,

    /// Spec generation the controller had processed when it wrote these numbers.
    #[field(5)]
    pub observed_generation: i64,

    /// Nodes already running a pod built from the newest template.
    #[field(6)]
    pub updated_number_scheduled: i32,

    /// Nodes whose daemon pod has been ready for at least `minReadySeconds`.
    #[field(7)]
    pub number_available: i32,

    /// Nodes still lacking an available daemon pod.
    #[field(8)]
    pub number_unavailable: i32,

    /// Hash clashes met while naming ControllerRevisions; feeds into the next generated name.
    #[field(9)]
    pub collision_count: Option<i32>,

    /// Detailed observations about the DaemonSet, keyed by type.
    #[field(10, list = map(type), patch = merge)]
    pub conditions: Vec<DaemonSetCondition>,
}

/// One named observation about a DaemonSet's current state.
pub struct DaemonSetCondition {
    /// Identifies which aspect of the DaemonSet this observation covers.
    #[field(1, required, go = "DaemonSetConditionType")]
    pub r#type: String,

    /// Whether the observation holds: `True`, `False` or `Unknown`.
    #[field(2, required)]
    pub status: ConditionStatus,

    /// Moment when the condition last flipped from one status value to another.
    #[field(3, always)]
    pub last_transition_time: Time,

    /// Single CamelCase word explaining the latest flip.
    #[field(4)]
    pub reason: String,

    /// Longer explanation of the condition, meant for operators rather than programs.
    #[field(5)]
    pub message: String,
}
