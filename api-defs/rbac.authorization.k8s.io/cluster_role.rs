use crate::meta::{LabelSelector, ObjectMeta};

/// Permission set usable cluster-wide or, via RoleBinding, in single namespaces.
#[kind(plural = "clusterroles", scope = Cluster, create_on_update, name = whole_path_segment, metadata = whole)]
#[versions(
    v1(introduced = "1.8"),
    v1beta1(
        introduced = "1.6",
        deprecated = "1.17",
        removed = "1.22",
        replacement = "rbac.authorization.k8s.io/v1 ClusterRole"
    ),
    v1alpha1
)]
#[check(rules, below)]
#[check(
    self,
    choose(any_selector_value, was(not(holds(aggregationRule.clusterRoleSelectors, below))))
)]
#[check(
    aggregationRule.clusterRoleSelectors,
    filled = "at least one clusterRoleSelector required if aggregationRule is non-nil",
    by_hand = validate_role_selector
)]
#[check(metadata, by_hand = validate_whole_metadata_update, when(update))]
pub struct ClusterRole {
    /// Name and labels; labels may opt the role into aggregation.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Permissions granted; overwritten by the controller when aggregation is configured.
    #[field(2, always, list = atomic)]
    pub rules: Vec<PolicyRule>,

    /// Collects permissions from other ClusterRoles into this one.
    #[field(3)]
    pub aggregation_rule: Option<AggregationRule>,
}

/// Builds a ClusterRole automatically out of other ClusterRoles.
pub struct AggregationRule {
    /// Label selectors for contributing roles; matching any one selector suffices.
    #[field(1, list = atomic)]
    pub cluster_role_selectors: Vec<LabelSelector>,
}
