use crate::meta::ObjectMeta;

/// Selects the requests to record and the detail of their records.
#[kind(list)]
#[versions(v1)]
pub struct Policy {
    /// Optional identity of the policy, included for interoperability with tooling.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Ordered rules; the first match decides, and unmatched requests are not logged.
    #[field(2, required, list = atomic)]
    pub rules: Vec<PolicyRule>,

    /// Stages never recorded, added to any listed in individual rules.
    #[field(3, list = atomic)]
    pub omit_stages: Vec<Stage>,

    /// Drops `managedFields` from recorded bodies unless a rule overrides it; default false.
    #[field(4)]
    pub omit_managed_fields: bool,
}

/// Matches requests and sets the logging detail for them.
pub struct PolicyRule {
    /// Detail to record for matching requests; `None` silences them.
    #[field(1, required)]
    pub level: Level,

    /// Usernames the rule covers; empty means everyone.
    #[field(2, list = atomic)]
    pub users: Vec<String>,

    /// Groups the rule covers, membership in one suffices; empty means everyone.
    #[field(3, list = atomic)]
    pub user_groups: Vec<String>,

    /// Verbs the rule covers, such as `delete`; empty means all.
    #[field(4, list = atomic)]
    pub verbs: Vec<String>,

    /// Resources the rule covers; empty means every kind in every group.
    #[field(5, list = atomic)]
    pub resources: Vec<GroupResources>,

    /// Namespaces the rule covers; an empty string entry matches cluster-scoped resources.
    #[field(6, list = atomic)]
    pub namespaces: Vec<String>,

    /// URL paths the rule covers, e.g. `/metrics` or `/healthz*`.
    #[field(7, list = atomic)]
    pub non_resource_urls: Vec<String>,

    /// Stages left unrecorded for requests matching the rule.
    #[field(8, list = atomic)]
    pub omit_stages: Vec<Stage>,

    /// Overrides the policy-wide choice on recording `managedFields`.
    #[field(9)]
    pub omit_managed_fields: Option<bool>,
}

/// Set of resources in one API group, used in audit rules.
pub struct GroupResources {
    /// API group to match; an empty string is the core group.
    #[field(1)]
    pub group: String,

    /// Resources such as `pods`, `pods/log` or `*/scale`; empty matches the whole group.
    #[field(2, list = atomic)]
    pub resources: Vec<String>,

    /// Object names to match, valid only alongside `resources`; empty matches every name.
    #[field(3, list = atomic)]
    pub resource_names: Vec<String>,
}
