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
#[validate(by_hand = validate_priority_class)]
#[check(value, unchanged = "may not be changed in an update.")]
#[check(preemptionPolicy, immutable)]
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
