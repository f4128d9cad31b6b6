use crate::meta::{Condition, LabelSelector, ObjectMeta};

/// Caps how many pods of an application voluntary disruptions may take down together.
#[kind(plural = "poddisruptionbudgets", short = "pdb", scope = Namespaced, unconditional_update = false, metadata = unchecked)]
#[versions(
    v1(introduced = "1.21"),
    v1beta1(introduced = "1.5", deprecated = "1.21", removed = "1.25", replacement = "policy/v1 PodDisruptionBudget")
)]
#[subresource(status, resets(spec))]
#[column("Min Available", spec.minAvailable or "N/A")]
#[column("Max Unavailable", spec.maxUnavailable or "N/A")]
#[column("Allowed Disruptions", integer, status.disruptionsAllowed)]
#[column("Age", age)]
#[normalize(by_hand = normalize_pod_disruption_budget)]
#[check(spec, below, when(not(subresource = status)))]
#[check(self, choose(any_selector_value, was(not(holds(spec.selector, below)))))]
#[check(spec.selector, below, when(not(subresource = status)))]
#[check(
    spec.unhealthyPodEvictionPolicy,
    one_of(AlwaysAllow, IfHealthyBudget),
    when(not(subresource = status))
)]
#[check(status, below, when(subresource = status))]
pub struct PodDisruptionBudget {
    /// Name, namespace and labels; covers pods of that namespace only.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Protected pods and the tolerated level of disruption.
    #[field(2)]
    pub spec: PodDisruptionBudgetSpec,

    /// Current headroom and pod health counts.
    #[field(3)]
    pub status: PodDisruptionBudgetStatus,
}

/// Pod selection with exactly one of two disruption limits.
#[check(
    self,
    invalid = "minAvailable and maxUnavailable cannot be both set",
    when(set(minAvailable), set(maxUnavailable))
)]
#[check(minAvailable, not_negative, format = percent, format = percent_of_at_most_all)]
#[check(maxUnavailable, not_negative, format = percent, format = percent_of_at_most_all)]
pub struct PodDisruptionBudgetSpec {
    /// Healthy pods, number or percentage, that must remain; exclusive with `maxUnavailable`.
    #[field(1)]
    pub min_available: Option<IntOrString>,

    /// Pods under protection; in v1 an empty selector takes in the whole namespace.
    #[field(2, patch = replace)]
    pub selector: Option<LabelSelector>,

    /// Pods, number or percentage, that may be down simultaneously; `0` blocks all evictions.
    #[field(3)]
    pub max_unavailable: Option<IntOrString>,

    /// When running but unready pods may be evicted; `IfHealthyBudget` by default.
    #[field(4)]
    pub unhealthy_pod_eviction_policy: Option<UnhealthyPodEvictionPolicyType>,
}

/// Rules for evicting pods that run without being ready.
pub enum UnhealthyPodEvictionPolicyType {
    IfHealthyBudget,
    AlwaysAllow,
}

/// Figures the eviction API consults before letting a pod go.
#[check(conditions, below)]
#[check(disruptionsAllowed, not_negative, when(not(version("policy/v1beta1"))))]
#[check(currentHealthy, not_negative, when(not(version("policy/v1beta1"))))]
#[check(desiredHealthy, not_negative, when(not(version("policy/v1beta1"))))]
#[check(expectedPods, not_negative, when(not(version("policy/v1beta1"))))]
pub struct PodDisruptionBudgetStatus {
    /// Spec generation these figures are based on; stale figures block evictions.
    #[field(1)]
    pub observed_generation: i64,

    /// Approved evictions awaiting deletion, by pod name and approval time; dropped after about two minutes.
    #[field(2)]
    pub disrupted_pods: Map<String, Time>,

    /// Evictions that would be granted right now.
    #[field(3, always)]
    pub disruptions_allowed: i32,

    /// Matching pods that are ready at present.
    #[field(4, always)]
    pub current_healthy: i32,

    /// Fewest healthy pods the budget insists on.
    #[field(5, always)]
    pub desired_healthy: i32,

    /// Pods the budget counts in total, derived from their controllers' scale.
    #[field(6, always)]
    pub expected_pods: i32,

    /// Observations on the budget, chiefly `DisruptionAllowed`.
    #[field(7, list = map(type), patch = merge)]
    pub conditions: Vec<Condition>,
}

mod v1beta1 {
    #[differs(PodDisruptionBudget)]
    #[normalize(none)]
    struct PodDisruptionBudget {}

    #[convert(PodDisruptionBudget, by_hand = v1beta1_pod_disruption_budget)]
    struct EmptySelector;

    #[differs(PodDisruptionBudgetSpec)]
    struct PodDisruptionBudgetSpec {
        /// Pods under protection; in v1 an empty selector takes in the whole namespace.
        #[field(2)]
        selector: Option<LabelSelector>,
    }
}
