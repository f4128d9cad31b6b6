use crate::meta::ObjectMeta;

/// Permission set confined to a single namespace.
#[kind(plural = "roles", scope = Namespaced, create_on_update, name = whole_path_segment, metadata = whole)]
#[versions(
    v1(introduced = "1.8"),
    v1beta1(
        introduced = "1.6",
        deprecated = "1.17",
        removed = "1.22",
        replacement = "rbac.authorization.k8s.io/v1 Role"
    ),
    v1alpha1
)]
#[check(rules, below = namespaced)]
#[check(metadata, by_hand = validate_whole_metadata_update, when(update))]
pub struct Role {
    /// Name, namespace and labels of this permission set.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Permissions granted inside the namespace; purely additive.
    #[field(2, always, list = atomic)]
    pub rules: Vec<PolicyRule>,
}

/// One permission entry: verbs on resources or on plain URLs, never both.
#[check(verbs, filled = "verbs must contain at least one value", when(part(default, namespaced)))]
#[check(
    nonResourceURLs,
    invalid = "namespaced rules cannot apply to non-resource URLs",
    when(part(namespaced), set(nonResourceURLs))
)]
#[check(
    nonResourceURLs,
    invalid = "rules cannot apply to both regular resources and non-resource URLs",
    when(part(default, namespaced), set(nonResourceURLs), not(none(apiGroups, resources, resourceNames)))
)]
#[check(
    apiGroups,
    filled = "resource rules must supply at least one api group",
    when(part(default, namespaced), unset(nonResourceURLs))
)]
#[check(
    resources,
    filled = "resource rules must supply at least one resource",
    when(part(default, namespaced), unset(nonResourceURLs))
)]
pub struct PolicyRule {
    /// Allowed operations such as `get` or `create`; `*` allows all.
    #[field(1, required, list = atomic)]
    pub verbs: Vec<String>,

    /// Groups containing the resources; an empty string is core, `*` is all.
    #[field(2, list = atomic)]
    pub api_groups: Vec<String>,

    /// Plural resource names; subresources look like `pods/log`, and `*` takes in everything.
    #[field(3, list = atomic)]
    pub resources: Vec<String>,

    /// Restricts the rule to these object names; unhelpful for `create` requests.
    #[field(4, list = atomic)]
    pub resource_names: Vec<String>,

    /// URL paths like `/metrics`, honoured only in ClusterRoles bound cluster-wide.
    #[field(5, list = atomic)]
    pub non_resource_urls: Vec<String>,
}

mod v1alpha1 {
    #[differs(PolicyRule)]
    struct PolicyRule {
        /// Groups containing the resources; an empty string is core, `*` is all.
        #[field(3, list = atomic)]
        api_groups: Vec<String>,

        /// Plural resource names; subresources look like `pods/log`, and `*` takes in everything.
        #[field(4, list = atomic)]
        resources: Vec<String>,

        /// Restricts the rule to these object names; unhelpful for `create` requests.
        #[field(5, list = atomic)]
        resource_names: Vec<String>,

        /// URL paths like `/metrics`, honoured only in ClusterRoles bound cluster-wide.
        #[field(6, list = atomic)]
        non_resource_urls: Vec<String>,
    }
}
