use crate::core::{ConditionStatus, PodTemplateSpec};
use crate::meta::{LabelSelector, ObjectMeta};

/// Runs one copy of a pod on every eligible node.
#[kind(plural = "daemonsets", short = "ds", category = "all", scope = Namespaced)]
#[versions(
    v1(introduced = "1.9"),
    v1beta2(introduced = "1.8", deprecated = "1.9", removed = "1.16", replacement = "apps/v1 DaemonSet")
)]
#[subresource(status, resets(spec))]
#[column("Desired", integer, status.desiredNumberScheduled)]
#[column("Current", integer, status.currentNumberScheduled)]
#[column("Ready", integer, status.numberReady)]
#[column("Up-to-date", integer, status.updatedNumberScheduled)]
#[column("Available", integer, status.numberAvailable)]
#[column("Node Selector", labels(spec.template.spec.nodeSelector))]
#[column("Age", age)]
#[column("Containers", join(spec.template.spec.containers.name), priority = 1)]
#[column("Images", join(spec.template.spec.containers.image), priority = 1)]
#[column("Selector", selector(spec.selector), priority = 1)]
#[default(spec.updateStrategy.type = RollingUpdate)]
#[default(spec.revisionHistoryLimit = 10)]
#[default(by_hand = default_daemon_set)]
#[normalize(by_hand = normalize_daemon_set)]
#[strategy(create = create_daemon_set, update = update_daemon_set, warnings = warn_daemon_set)]
#[check(spec.selector, immutable)]
#[check(spec, below, when(not(subresource = status)))]
#[check(status, below, when(subresource = status))]
pub struct DaemonSet {
    /// Name, namespace, labels and annotations of the DaemonSet.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Pod template, selector and update settings for the per-node pods.
    #[field(2)]
    pub spec: DaemonSetSpec,

    /// Counts of nodes running, needing or missing the daemon pod.
    #[field(3)]
    pub status: DaemonSetStatus,
}

/// Settings for a DaemonSet's pods and how they are updated.
#[check(template, by_hand = choose_values_of_pods, when(update))]
#[check(
    self,
    choose = any_values_of_pods,
    when(was(not(holds(selector.matchExpressions, each(field(values, each(format = label_value)))))))
)]
#[check(selector, by_hand = validate_selector_of_pods)]
#[check(
    template.metadata.labels,
    selected(selector, "`selector` does not match template `labels`")
)]
#[check(
    selector,
    invalid = "empty selector is invalid for daemonset",
    when(set(selector), unset(selector.matchLabels), unset(selector.matchExpressions))
)]
#[check(template, by_hand = validate_template)]
#[check(template.spec.restartPolicy, one_of(Always))]
#[check(template.spec.activeDeadlineSeconds, forbidden = "activeDeadlineSeconds in DaemonSet is not Supported")]
#[check(minReadySeconds, not_negative)]
#[check(updateStrategy, below)]
#[check(revisionHistoryLimit, not_negative)]
pub struct DaemonSetSpec {
    /// Labels identifying the daemon's pods; must match the template and cannot change.
    #[field(1, required)]
    pub selector: Option<LabelSelector>,

    /// Pod to run on each node, narrowed by its `nodeSelector`, affinity and tolerations.
    #[field(2, required)]
    pub template: PodTemplateSpec,

    /// How template changes reach nodes: `RollingUpdate` (default) or `OnDelete`.
    #[field(3)]
    pub update_strategy: DaemonSetUpdateStrategy,

    /// Seconds a daemon pod must stay ready before counting as available; default 0.
    #[field(4)]
    pub min_ready_seconds: i32,

    /// Old template revisions to retain for rollback; default 10.
    #[field(6)]
    pub revision_history_limit: Option<i32>,
}

/// How daemon pods get replaced once the template changes.
#[check(rollingUpdate, required, below, when(type = RollingUpdate))]
#[check(self, unsupported(RollingUpdate, OnDelete), when(not(type = (OnDelete, RollingUpdate))))]
pub struct DaemonSetUpdateStrategy {
    /// Value `RollingUpdate` replaces pods automatically; `OnDelete` waits for manual deletion.
    #[field(1)]
    pub r#type: DaemonSetUpdateStrategyType,

    /// Pace of replacement; valid only with type `RollingUpdate`.
    #[field(2)]
    pub rolling_update: Option<RollingUpdateDaemonSet>,
}

/// Automatic or manual replacement of daemon pods.
pub enum DaemonSetUpdateStrategyType {
    RollingUpdate,
    OnDelete,
}

/// Limits on disruption while daemon pods are replaced.
#[check(maxUnavailable, not_negative, format = percent)]
#[check(maxSurge, not_negative, format = percent)]
#[check(maxUnavailable, format = percent_of_at_most_all)]
#[check(maxSurge, format = percent_of_at_most_all)]
#[check(
    maxSurge,
    invalid = "may not be set when maxUnavailable is non-zero",
    when(not(zero(maxUnavailable)), not(zero(maxSurge)))
)]
#[check(
    maxUnavailable,
    missing = "cannot be 0 when maxSurge is 0",
    when(zero(maxUnavailable), zero(maxSurge))
)]
pub struct RollingUpdateDaemonSet {
    /// Nodes (count or percent) that may lack the pod during updates; default 1.
    #[field(1)]
    pub max_unavailable: Option<IntOrString>,

    /// Nodes (count or percent) that may briefly run old and new pods; default 0.
    #[field(2)]
    pub max_surge: Option<IntOrString>,
}

/// Node and pod counts reported by the DaemonSet controller.
#[check(currentNumberScheduled, not_negative)]
#[check(numberMisscheduled, not_negative)]
#[check(desiredNumberScheduled, not_negative)]
#[check(numberReady, not_negative)]
#[check(observedGeneration, not_negative)]
#[check(updatedNumberScheduled, not_negative)]
#[check(numberAvailable, not_negative)]
#[check(numberUnavailable, not_negative)]
#[check(collisionCount, not_negative)]
#[check(collisionCount, grows = "cannot be decremented")]
pub struct DaemonSetStatus {
    /// Eligible nodes already running at least one daemon pod.
    #[field(1, required)]
    pub current_number_scheduled: i32,

    /// Nodes running the daemon pod although they should not.
    #[field(2, required)]
    pub number_misscheduled: i32,

    /// Nodes that ought to run the daemon pod.
    #[field(3, required)]
    pub desired_number_scheduled: i32,

    /// Nodes where at least one daemon pod is ready.
    #[field(4, required)]
    pub number_ready: i32,

    /// DaemonSet generation the controller most recently acted on.
    #[field(5)]
    pub observed_generation: i64,

    /// Nodes running the pod from the newest template.
    #[field(6)]
    pub updated_number_scheduled: i32,

    /// Nodes whose daemon pod has been ready for `minReadySeconds`.
    #[field(7)]
    pub number_available: i32,

    /// Nodes that need the daemon pod but have none available.
    #[field(8)]
    pub number_unavailable: i32,

    /// Hash clashes met when naming revisions; used by the controller internally.
    #[field(9)]
    pub collision_count: Option<i32>,

    /// Latest conditions reported for the DaemonSet.
    #[field(10, list = map(type), patch = merge)]
    pub conditions: Vec<DaemonSetCondition>,
}

/// One observed aspect of a DaemonSet's state.
pub struct DaemonSetCondition {
    /// Name of the DaemonSet aspect being reported.
    #[field(1, required, go = "DaemonSetConditionType")]
    pub r#type: String,

    /// Value `True`, `False` or `Unknown` for this DaemonSet condition.
    #[field(2, required)]
    pub status: ConditionStatus,

    /// When the DaemonSet condition last switched its status.
    #[field(3, always)]
    pub last_transition_time: Time,

    /// CamelCase code for the DaemonSet condition's latest switch.
    #[field(4)]
    pub reason: String,

    /// Readable detail on the DaemonSet condition.
    #[field(5)]
    pub message: String,
}
