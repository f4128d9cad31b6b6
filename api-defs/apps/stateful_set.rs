use crate::core::{ConditionStatus, PersistentVolumeClaim, PodTemplateSpec};
use crate::meta::{LabelSelector, ObjectMeta};

/// Runs pods with stable names, stable network identity and their own storage.
#[kind(
    plural = "statefulsets",
    short = "sts",
    category = "all",
    scope = Namespaced,
    name = dns1123_label,
    metadata = unchecked
)]
#[versions(
    v1(introduced = "1.9"),
    v1beta2(introduced = "1.8", deprecated = "1.9", removed = "1.16", replacement = "apps/v1 StatefulSet"),
    v1beta1(introduced = "1.5", deprecated = "1.8", removed = "1.16", replacement = "apps/v1 StatefulSet")
)]
#[subresource(
    scale,
    kind = autoscaling::v1::Scale,
    replicas = spec.replicas,
    observed = status.replicas,
    selector = spec.selector
)]
#[subresource(status, resets(spec))]
#[column("Ready", by_hand = stateful_set_ready, reads(spec.replicas, status.readyReplicas), "Ready replicas of those wanted.")]
#[column("Age", age)]
#[column("Containers", join(spec.template.spec.containers.name), priority = 1)]
#[column("Images", join(spec.template.spec.containers.image), priority = 1)]
#[default(spec.podManagementPolicy = OrderedReady)]
#[default(spec.persistentVolumeClaimRetentionPolicy = {})]
#[default(spec.persistentVolumeClaimRetentionPolicy.whenDeleted = Retain)]
#[default(spec.persistentVolumeClaimRetentionPolicy.whenScaled = Retain)]
#[default(spec.replicas = 1)]
#[default(spec.revisionHistoryLimit = 10)]
#[default(by_hand = default_stateful_set)]
#[strategy(warnings = warn_stateful_set)]
#[check(metadata, by_hand = validate_stateful_set_metadata, when(not(subresource = status)))]
#[check(spec, by_hand = allow_stored_template, when(update, not(subresource = status)))]
#[check(spec, below, when(not(subresource = status)))]
#[check(
    spec,
    refused = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
        'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are \
        forbidden",
    when(differs(
        spec,
        replicas,
        ordinals,
        template,
        updateStrategy,
        revisionHistoryLimit,
        persistentVolumeClaimRetentionPolicy,
        minReadySeconds
    ))
)]
#[check(status, below, when(subresource = status))]
#[check(metadata, by_hand = validate_stateful_set_metadata, when(subresource = status))]
#[check(status.collisionCount, grows = "cannot be decremented", when(subresource = status))]
pub struct StatefulSet {
    /// Name, namespace, labels and annotations of the StatefulSet.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Replicas, pod template, volume claims and update settings of the StatefulSet.
    #[field(2)]
    pub spec: StatefulSetSpec,

    /// Replica counts and revisions most recently observed for the StatefulSet.
    #[field(3)]
    pub status: StatefulSetStatus,
}

/// Settings for a StatefulSet's pods, storage and updates.
#[condition(usable, holds(selector, below))]
#[check(podManagementPolicy, required)]
#[check(
    podManagementPolicy,
    invalid = "must be 'OrderedReady' or 'Parallel'",
    when(not(podManagementPolicy = ("", OrderedReady, Parallel)))
)]
#[check(updateStrategy, below)]
#[check(persistentVolumeClaimRetentionPolicy, below)]
#[check(volumeClaimTemplates, by_hand = validate_claim_template_of_set, when(create))]
#[check(replicas, not_negative)]
#[check(minReadySeconds, not_negative)]
#[check(ordinals.start, not_negative)]
#[check(serviceName, optional, name = dns1123_label, when(create))]
#[check(selector, required, below)]
#[check(
    selector,
    invalid = "empty selector is invalid for statefulset",
    when(set(selector), unset(selector.matchLabels), unset(selector.matchExpressions))
)]
#[check(selector, invalid = "", when(not(usable)))]
#[check(
    template.metadata.labels,
    selected(selector, "`selector` does not match template `labels`"),
    when(usable)
)]
#[check(self, by_hand = validate_stateful_set_pods, when(usable))]
#[check(template.spec.restartPolicy, one_of(Always))]
#[check(template.spec.activeDeadlineSeconds, forbidden = "activeDeadlineSeconds in StatefulSet is not Supported")]
pub struct StatefulSetSpec {
    /// Number of numbered pods wanted; 1 when omitted.
    #[field(1)]
    pub replicas: Option<i32>,

    /// Labels identifying the StatefulSet's pods; must match the template and cannot change.
    #[field(2, required)]
    pub selector: Option<LabelSelector>,

    /// Blueprint for each pod, which is named `<statefulset>-<ordinal>`.
    #[field(3, required)]
    pub template: PodTemplateSpec,

    /// Claims created per pod, giving every ordinal its own persistent volume.
    #[field(4, list = atomic, says_kind)]
    pub volume_claim_templates: Vec<PersistentVolumeClaim>,

    /// Headless Service that gives pods DNS names like `web-0.<service>`.
    #[field(5, always)]
    pub service_name: String,

    /// Mode `OrderedReady` (default) starts pods one by one; `Parallel` does all together.
    #[field(6)]
    pub pod_management_policy: PodManagementPolicyType,

    /// How template changes reach the pods: `RollingUpdate` or `OnDelete`.
    #[field(7)]
    pub update_strategy: StatefulSetUpdateStrategy,

    /// Old ControllerRevisions to keep for rollback; default 10.
    #[field(8)]
    pub revision_history_limit: Option<i32>,

    /// Seconds a StatefulSet pod must stay ready before counting as available.
    #[field(9)]
    pub min_ready_seconds: i32,

    /// Whether claims are removed on deletion or scale-down; all retained by default.
    #[field(10)]
    pub persistent_volume_claim_retention_policy: Option<StatefulSetPersistentVolumeClaimRetentionPolicy>,

    /// Pod numbering options; numbers start from 0 if unset.
    #[field(11)]
    pub ordinals: Option<StatefulSetOrdinals>,
}

/// Sequential or simultaneous creation and deletion of StatefulSet pods.
pub enum PodManagementPolicyType {
    OrderedReady,
    Parallel,
}

/// How StatefulSet pods get replaced once the template changes.
#[check(self, missing = "", when(type = ""))]
#[check(rollingUpdate, below, when(type = RollingUpdate))]
#[check(self, invalid = "must be 'RollingUpdate' or 'OnDelete'", when(not(type = ("", OnDelete, RollingUpdate))))]
#[check(
    rollingUpdate,
    invalid = "only allowed for updateStrategy 'RollingUpdate'",
    when(set(rollingUpdate), type = OnDelete)
)]
pub struct StatefulSetUpdateStrategy {
    /// Value `RollingUpdate` goes from highest ordinal down; `OnDelete` waits for manual deletion.
    #[field(1)]
    pub r#type: StatefulSetUpdateStrategyType,

    /// Partition and unavailability settings; valid only with type `RollingUpdate`.
    #[field(2)]
    pub rolling_update: Option<RollingUpdateStatefulSetStrategy>,
}

/// Automatic or manual replacement of StatefulSet pods.
pub enum StatefulSetUpdateStrategyType {
    RollingUpdate,
    OnDelete,
}

/// Limits and staging for updating StatefulSet pods.
#[check(partition, not_negative)]
#[check(maxUnavailable, not_negative, format = percent)]
#[check(maxUnavailable, invalid = "cannot be 0", when(set(maxUnavailable), zero(maxUnavailable)))]
#[check(maxUnavailable, format = percent_of_at_most_all)]
pub struct RollingUpdateStatefulSetStrategy {
    /// Only pods with ordinals at or above this number are updated; default 0.
    #[field(1)]
    pub partition: Option<i32>,

    /// Pods (count or percent) that may be down at once; default 1, feature-gated.
    #[field(2, gate = MaxUnavailableStatefulSet)]
    pub max_unavailable: Option<IntOrString>,
}

/// Decides whether claims outlive the StatefulSet or its scaled-down pods.
#[check(whenDeleted, one_of(Retain, Delete))]
#[check(whenScaled, one_of(Retain, Delete))]
pub struct StatefulSetPersistentVolumeClaimRetentionPolicy {
    /// Fate of claims when the StatefulSet goes away; default `Retain`.
    #[field(1)]
    pub when_deleted: PersistentVolumeClaimRetentionPolicyType,

    /// Fate of claims belonging to pods removed by scale-down; default `Retain`.
    #[field(2)]
    pub when_scaled: PersistentVolumeClaimRetentionPolicyType,
}

/// Keep or remove the claims made for StatefulSet pods.
#[open]
pub enum PersistentVolumeClaimRetentionPolicyType {
    Retain,
    Delete,
}

/// Controls how pods of a StatefulSet are numbered.
pub struct StatefulSetOrdinals {
    /// Ordinal given to the first pod; default 0.
    #[field(1, always)]
    pub start: i32,
}

/// Replica counts and revisions reported by the StatefulSet controller.
#[check(replicas, not_negative)]
#[check(readyReplicas, not_negative)]
#[check(currentReplicas, not_negative)]
#[check(updatedReplicas, not_negative)]
#[check(availableReplicas, not_negative)]
#[check(observedGeneration, not_negative)]
#[check(collisionCount, not_negative)]
#[check(readyReplicas, at_most(replicas, "cannot be greater than status.replicas"))]
#[check(currentReplicas, at_most(replicas, "cannot be greater than status.replicas"))]
#[check(updatedReplicas, at_most(replicas, "cannot be greater than status.replicas"))]
#[check(availableReplicas, at_most(replicas, "cannot be greater than status.replicas"))]
#[check(availableReplicas, at_most(readyReplicas, "cannot be greater than status.readyReplicas"))]
pub struct StatefulSetStatus {
    /// StatefulSet generation the controller most recently acted on.
    #[field(1)]
    pub observed_generation: i64,

    /// Pods that the StatefulSet controller has created.
    #[field(2, required)]
    pub replicas: i32,

    /// Pods of this StatefulSet currently passing readiness.
    #[field(3)]
    pub ready_replicas: i32,

    /// Pods still on the revision named in `currentRevision`.
    #[field(4)]
    pub current_replicas: i32,

    /// Pods already on the revision named in `updateRevision`.
    #[field(5)]
    pub updated_replicas: i32,

    /// ControllerRevision in use before the ongoing update.
    #[field(6)]
    pub current_revision: String,

    /// ControllerRevision that pods are being updated to.
    #[field(7)]
    pub update_revision: String,

    /// Hash clashes met when naming ControllerRevisions; internal bookkeeping.
    #[field(9)]
    pub collision_count: Option<i32>,

    /// Latest conditions reported for the StatefulSet.
    #[field(10, list = map(type), patch = merge)]
    pub conditions: Vec<StatefulSetCondition>,

    /// StatefulSet pods ready for no less than `minReadySeconds`.
    #[field(11, always)]
    pub available_replicas: i32,
}

/// One observed aspect of a StatefulSet's state.
pub struct StatefulSetCondition {
    /// Name of the StatefulSet aspect being reported.
    #[field(1, required, go = "StatefulSetConditionType")]
    pub r#type: String,

    /// Whether the StatefulSet condition holds: `True`, `False` or `Unknown`.
    #[field(2, required)]
    pub status: ConditionStatus,

    /// When the StatefulSet condition last switched its status.
    #[field(3, always)]
    pub last_transition_time: Time,

    /// CamelCase code for the StatefulSet condition's latest switch.
    #[field(4)]
    pub reason: String,

    /// Readable detail on the StatefulSet condition.
    #[field(5)]
    pub message: String,
}

mod v1beta1 {
    #[differs(StatefulSet)]
    #[default(spec.podManagementPolicy = OrderedReady)]
    #[default(spec.updateStrategy.type = OnDelete)]
    #[default(spec.persistentVolumeClaimRetentionPolicy = {})]
    #[default(spec.persistentVolumeClaimRetentionPolicy.whenDeleted = Retain)]
    #[default(spec.persistentVolumeClaimRetentionPolicy.whenScaled = Retain)]
    #[default(spec.replicas = 1)]
    #[default(spec.revisionHistoryLimit = 10)]
    #[default(by_hand = default_v1beta1_stateful_set)]
    struct StatefulSet {}

    #[differs(StatefulSetSpec)]
    struct StatefulSetSpec {
        /// Labels identifying the StatefulSet's pods; must match the template and cannot change.
        #[field(2)]
        selector: Option<LabelSelector>,
    }

    #[differs(StatefulSetStatus)]
    struct StatefulSetStatus {
        /// StatefulSet generation the controller most recently acted on.
        #[field(1)]
        observed_generation: Option<i64>,
    }
}
