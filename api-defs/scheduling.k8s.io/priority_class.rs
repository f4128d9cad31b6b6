use crate::core::PreemptionPolicy;
use crate::meta::ObjectMeta;

/// Gives a name to a scheduling priority that pods can refer to.
#[kind(plural = "priorityclasses", short = "pc", scope = Cluster)]
#[versions(
    v1(introduced = "1.14"),
    v1beta1(
        introduced = "1.11",
        deprecated = "1.14",
        removed = "1.22",
        replacement = "scheduling.k8s.io/v1 PriorityClass"
    )
)]
#[column("Value", integer, value)]
#[column("Global-Default", boolean, globalDefault)]
#[column("Age", age)]
#[column("PreemptionPolicy", preemptionPolicy or "")]
#[strategy(create = create_priority_class)]
#[check(value, unchanged = "may not be changed in an update.")]
#[check(preemptionPolicy, immutable)]
#[check(self, by_hand = validate_priority, when(create))]
#[check(
    metadata.name,
    forbidden = "priority class names with 'system-' prefix are reserved for system use only. error: value of system-node-critical PriorityClass must be 2000001000",
    when(create, metadata.name = "system-node-critical", not(value = 2000001000))
)]
#[check(
    metadata.name,
    forbidden = "priority class names with 'system-' prefix are reserved for system use only. error: globalDefault of system-node-critical PriorityClass must be false",
    when(create, metadata.name = "system-node-critical", value = 2000001000, globalDefault = true)
)]
#[check(
    metadata.name,
    forbidden = "priority class names with 'system-' prefix are reserved for system use only. error: value of system-cluster-critical PriorityClass must be 2000000000",
    when(create, metadata.name = "system-cluster-critical", not(value = 2000000000))
)]
#[check(
    metadata.name,
    forbidden = "priority class names with 'system-' prefix are reserved for system use only. error: globalDefault of system-cluster-critical PriorityClass must be false",
    when(create, metadata.name = "system-cluster-critical", value = 2000000000, globalDefault = true)
)]
#[check(preemptionPolicy, optional, missing = "", when(create, preemptionPolicy = ""))]
#[check(preemptionPolicy, one_of(PreemptLowerPriority, Never), when(create, not(preemptionPolicy = "")))]
pub struct PriorityClass {
    /// Cluster-wide name and labels; prefix `system-` is reserved.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Integer priority, higher meaning more important; user classes stop at one billion.
    #[field(2, always)]
    pub value: i32,

    /// Applies this class to pods naming none; only one class should set it.
    #[field(3)]
    pub global_default: bool,

    /// Free text advising users when to choose this class.
    #[field(4)]
    pub description: String,

    /// Whether pods may evict lesser ones: `PreemptLowerPriority` by default, or `Never`.
    #[field(5, default_hidden = PreemptLowerPriority)]
    pub preemption_policy: Option<PreemptionPolicy>,
}
