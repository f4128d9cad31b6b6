use crate::core::{ConditionStatus, PodTemplateSpec};
use crate::meta::{LabelSelector, ObjectMeta};

/// Retired beta API keeping a fixed number of identical pods; see `apps/v1`.
#[kind(stored_as = apps::v1::ReplicaSet, list)]
#[versions(v1beta1(introduced = "1.2", deprecated = "1.8", removed = "1.16", replacement = "apps/v1 ReplicaSet"))]
#[default(spec.replicas = 1)]
#[default(by_hand = default_replica_set)]
pub struct ReplicaSet {
    /// Naming and labels; missing labels are copied from the pod template.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Desired replica count, selector and pod template.
    #[field(2)]
    pub spec: ReplicaSetSpec,

    /// Replica counts most recently seen by the controller.
    #[field(3)]
    pub status: ReplicaSetStatus,
}

/// Settings for a legacy ReplicaSet.
pub struct ReplicaSetSpec {
    /// Pods to maintain; 1 when unset, and 0 is valid.
    #[field(1)]
    pub replicas: Option<i32>,

    /// Seconds of uninterrupted readiness required before a pod counts as available.
    #[field(4)]
    pub min_ready_seconds: i32,

    /// Labels that decide pod ownership; derived from the template if absent.
    #[field(2)]
    pub selector: Option<LabelSelector>,

    /// Pod blueprint used whenever a replacement is needed.
    #[field(3)]
    pub template: PodTemplateSpec,
}

/// Replica counters and conditions reported for a ReplicaSet.
pub struct ReplicaSetStatus {
    /// Pods currently owned, not counting terminating ones.
    #[field(1, required)]
    pub replicas: i32,

    /// Owned pods carrying every label from the template.
    #[field(2)]
    pub fully_labeled_replicas: i32,

    /// Owned pods whose `Ready` condition is true.
    #[field(4)]
    pub ready_replicas: i32,

    /// Owned pods ready for no less than `minReadySeconds`.
    #[field(5)]
    pub available_replicas: i32,

    /// Owned pods marked for deletion but still present; reported behind a feature gate.
    #[field(7)]
    pub terminating_replicas: Option<i32>,

    /// Spec generation reflected in these counters.
    #[field(3)]
    pub observed_generation: i64,

    /// Observations such as failure to create pods.
    #[field(6, list = map(type), patch = merge)]
    pub conditions: Vec<ReplicaSetCondition>,
}

/// One named observation about a ReplicaSet.
pub struct ReplicaSetCondition {
    /// Observed aspect; only `ReplicaFailure` is defined.
    #[field(1, required)]
    pub r#type: ReplicaSetConditionType,

    /// Whether the failure is present: `True`, `False` or `Unknown`.
    #[field(2, required)]
    pub status: ConditionStatus,

    /// Time of the most recent status change.
    #[field(3, always)]
    pub last_transition_time: Time,

    /// CamelCase code for the change, for example `FailedCreate`.
    #[field(4)]
    pub reason: String,

    /// Error text or other detail for humans.
    #[field(5)]
    pub message: String,
}

/// Condition names for ReplicaSets; currently just a pod creation or deletion failure.
#[open]
pub enum ReplicaSetConditionType {
    ReplicaFailure,
}
