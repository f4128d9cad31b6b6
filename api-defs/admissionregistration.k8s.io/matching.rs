use crate::meta::LabelSelector;

/// CEL filter that must be true before a webhook or policy is invoked.
#[check(expression, missing = "", when(blank(expression)))]
#[check(self, by_hand = compile_match_condition, when(not(blank(expression))))]
#[check(name, required, format = qualified_name, distinct)]
pub struct MatchCondition {
    /// Label for the condition, unique in its list and used in logs and errors.
    #[field(1, required)]
    pub name: String,

    /// CEL boolean with access to `object`, `oldObject`, `request` and `authorizer`.
    #[field(2, required)]
    pub expression: String,
}

/// Criteria choosing which API requests a policy or binding covers.
#[structure(atomic)]
#[check(matchPolicy, required, one_of(Equivalent, Exact))]
#[check(namespaceSelector, required, below)]
#[check(objectSelector, required, below)]
#[check(resourceRules, below)]
#[check(excludeResourceRules, below)]
#[check(resourceRules, filled, when(part(types)))]
#[check(
    resourceRules,
    each(field(operations, each(at("../../operations", one_of(All, CONNECT, CREATE, UPDATE))))),
    when(part(mutations))
)]
pub struct MatchResources {
    /// Limits matches to namespaces carrying these labels; empty matches every namespace.
    #[field(1, default_hidden = {})]
    pub namespace_selector: Option<LabelSelector>,

    /// Limits matches by object labels, tested on both old and new versions.
    #[field(2, default_hidden = {})]
    pub object_selector: Option<LabelSelector>,

    /// Operations and resources covered; a request needs to fit at least one entry.
    #[field(3, list = atomic)]
    pub resource_rules: Vec<NamedRuleWithOperations>,

    /// Operations and resources to skip, taking precedence over `resourceRules`.
    #[field(4, list = atomic)]
    pub exclude_resource_rules: Vec<NamedRuleWithOperations>,

    /// Whether rules also catch other API versions of the resource; default `Equivalent`.
    #[field(7, default_hidden = Equivalent)]
    pub match_policy: Option<MatchPolicyType>,
}

/// Operations plus resources, optionally restricted to particular object names.
#[structure(atomic)]
#[check(resourceNames, each(format = path_segment_name, distinct))]
#[check(self, inlined)]
pub struct NamedRuleWithOperations {
    /// Allow list of object names; empty means any name matches.
    #[field(1, list = atomic)]
    pub resource_names: Vec<String>,

    /// Inlined operations, groups, versions and resources that this rule covers.
    #[field(2, inline)]
    pub rule_with_operations: RuleWithOperations,
}

/// A resource match combined with the actions that trigger it.
#[check(operations, filled)]
#[check(
    operations,
    invalid = "if '*' is present, must not specify other operations",
    when(operations = All, not(single(operations)))
)]
#[check(operations, each(one_of(All, CONNECT, CREATE, DELETE, UPDATE)))]
#[check(self, inlined)]
pub struct RuleWithOperations {
    /// Actions to match, such as `CREATE` or `UPDATE`; `*` covers all of them.
    #[field(1, list = atomic)]
    pub operations: Vec<OperationType>,

    /// Inlined groups, versions, resources and scope to match.
    #[field(2, inline)]
    pub rule: Rule,
}

/// API actions that rules can match, with `*` meaning any.
pub enum OperationType {
    #[value("*")]
    All,
    CREATE,
    UPDATE,
    DELETE,
    CONNECT,
}

/// Combination of API groups, versions, resources and scope to match.
#[check(apiGroups, filled)]
#[check(
    apiGroups,
    invalid = "if '*' is present, must not specify other API groups",
    when(apiGroups = "*", not(single(apiGroups)))
)]
#[check(apiVersions, filled)]
#[check(
    apiVersions,
    invalid = "if '*' is present, must not specify other API versions",
    when(apiVersions = "*", not(single(apiVersions)))
)]
#[check(apiVersions, each(filled))]
#[check(resources, filled)]
#[check(self, by_hand = validate_resources)]
#[check(
    resources,
    invalid = "if '*/*' is present, must not specify other resources",
    when(resources = "*/*", not(single(resources)))
)]
#[check(self, by_hand = validate_any_resource, when(resources = "*"))]
#[check(scope, one_of(All, Cluster, Namespaced))]
pub struct Rule {
    /// Groups to match; an empty string is the core group, `*` is all.
    #[field(1, list = atomic)]
    pub api_groups: Vec<String>,

    /// Versions to match within the groups; `*` stands for all of them.
    #[field(2, list = atomic)]
    pub api_versions: Vec<String>,

    /// Resources such as `pods` or `pods/log`; `*/*` covers everything including subresources.
    #[field(3, list = atomic)]
    pub resources: Vec<String>,

    /// Restricts matching to `Cluster` or `Namespaced` resources; default `*` matches both.
    #[field(4, default_hidden = All)]
    pub scope: Option<ScopeType>,
}

/// Restricts rules to cluster-wide resources, namespaced ones, or both.
pub enum ScopeType {
    Cluster,
    Namespaced,
    #[value("*")]
    All,
}

/// Choice between matching only listed API versions and also their equivalents.
pub enum MatchPolicyType {
    Exact,
    Equivalent,
}

mod v1beta1 {
    use v1::{Rule, RuleWithOperations};
}

mod v1alpha1 {
    use v1::{MatchCondition, Rule, RuleWithOperations};
}
