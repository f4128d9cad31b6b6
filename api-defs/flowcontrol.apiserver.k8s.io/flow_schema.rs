use crate::meta::ObjectMeta;

/// Classifies incoming API requests and routes them to a priority level.
#[kind(plural = "flowschemas", scope = Cluster, metadata = whole)]
#[versions(
    v1(introduced = "1.29"),
    v1beta3(introduced = "1.26", replacement = "flowcontrol.apiserver.k8s.io/v1 FlowSchema"),
    v1beta2(introduced = "1.23", replacement = "flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema"),
    v1beta1(introduced = "1.20", replacement = "flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema")
)]
#[subresource(status, resets(spec, metadata, metadata.uid, metadata.generateName, metadata.deletionGracePeriodSeconds))]
#[strategy(order = precedence_of_flow_schema)]
#[column("PriorityLevel", spec.priorityLevelConfiguration.name)]
#[column("MatchingPrecedence", spec.matchingPrecedence)]
#[column("DistinguisherMethod", spec.distinguisherMethod.type or "<none>")]
#[column("Age", age)]
#[column("MissingPL", by_hand = flow_schema_missing_pl, reads(status.conditions), "Whether the priority level that it names is missing.")]
#[check(
    spec.matchingPrecedence,
    positive = "must be a positive value",
    max(10000, "must not be greater than 10000"),
    when(not(subresource = status))
)]
#[check(
    spec.matchingPrecedence,
    invalid = "only the schema named 'exempt' may have matchingPrecedence 1",
    when(not(subresource = status), spec.matchingPrecedence = 1, not(metadata.name = exempt))
)]
#[check(spec, below, when(not(subresource = status)))]
#[check(self, by_hand = validate_mandatory_schema, when(not(subresource = status)))]
#[check(status.conditions, below)]
pub struct FlowSchema {
    /// Name and labels of this cluster-scoped schema; auto-update annotations apply to built-in ones.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Matching rules plus the priority level that matched requests use.
    #[field(2)]
    pub spec: FlowSchemaSpec,

    /// Conditions reporting problems such as a missing priority level.
    #[field(3)]
    pub status: FlowSchemaStatus,
}

/// Routing definition of a FlowSchema: who matches, precedence, and target priority level.
#[check(
    distinguisherMethod,
    at("distinguisherMethod.type", unsupported(ByNamespace, ByUser)),
    when(set(distinguisherMethod), not(distinguisherMethod.type = (ByNamespace, ByUser)))
)]
#[check(priorityLevelConfiguration.name, required = "must reference a priority level", name = dns1123_subdomain)]
#[check(rules, below)]
pub struct FlowSchemaSpec {
    /// Priority level handling matched requests; a bad reference makes the schema ignored.
    #[field(1, required)]
    pub priority_level_configuration: PriorityLevelConfigurationReference,

    /// Order among schemas, 1 to 10000, lowest tried first; default 1000.
    #[field(2, always, default_hidden = 1000)]
    pub matching_precedence: i32,

    /// Splits matched requests into flows for fair queuing; unset keeps them as one flow.
    #[field(3)]
    pub distinguisher_method: Option<FlowDistinguisherMethod>,

    /// Request patterns; matching any single entry is enough, and an empty list matches nothing.
    #[field(4, list = atomic)]
    pub rules: Vec<PolicyRulesWithSubjects>,
}

/// Name-only pointer from a FlowSchema to its priority level.
pub struct PriorityLevelConfigurationReference {
    /// Priority level to use; mandatory.
    #[field(1, required)]
    pub name: String,
}

/// Determines how requests under one FlowSchema get split into separate flows.
pub struct FlowDistinguisherMethod {
    /// Split key: requesting user (`ByUser`) or target namespace (`ByNamespace`).
    #[field(1, required)]
    pub r#type: FlowDistinguisherMethodType,
}

/// Request attribute separating flows: user name or namespace.
#[open]
pub enum FlowDistinguisherMethodType {
    ByUser,
    ByNamespace,
}

/// Combines requesters with the requests they make; both sides must match.
#[check(subjects, filled = "subjects must contain at least one value", below)]
#[check(
    self,
    missing = "at least one of resourceRules and nonResourceRules has to be non-empty",
    when(unset(resourceRules), unset(nonResourceRules))
)]
#[check(resourceRules, below)]
#[check(nonResourceRules, below)]
pub struct PolicyRulesWithSubjects {
    /// Users, groups or service accounts to match; one hit is enough.
    #[field(1, required, list = atomic)]
    pub subjects: Vec<Subject>,

    /// Patterns for resource requests; needed unless `nonResourceRules` is filled.
    #[field(2, list = atomic)]
    pub resource_rules: Vec<ResourcePolicyRule>,

    /// Patterns for non-resource URL requests.
    #[field(3, list = atomic)]
    pub non_resource_rules: Vec<NonResourcePolicyRule>,
}

/// Requester to match; exactly one variant applies, chosen by `kind`.
#[check(kind, one_of(Group, ServiceAccount, User))]
#[check(
    serviceAccount,
    required = "serviceAccount is required when subject kind is 'ServiceAccount'",
    below,
    when(kind = ServiceAccount)
)]
#[check(user, required = "user is required when subject kind is 'User'", below, when(kind = User))]
#[check(group, required = "group is required when subject kind is 'Group'", below, when(kind = Group))]
#[check(
    serviceAccount,
    forbidden = "serviceAccount is forbidden when subject kind is not 'ServiceAccount'",
    when(kind = (User, Group))
)]
#[check(user, forbidden = "user is forbidden when subject kind is not 'User'", when(kind = (ServiceAccount, Group)))]
#[check(group, forbidden = "group is forbidden when subject kind is not 'Group'", when(kind = (ServiceAccount, User)))]
#[union(discriminator = kind, members(User = user, Group = group, ServiceAccount = serviceAccount))]
pub struct Subject {
    /// Variant in use: `User`, `Group` or `ServiceAccount`.
    #[field(1, required)]
    pub kind: SubjectKind,

    /// Username match, set when `kind` is `User`.
    #[field(2)]
    pub user: Option<UserSubject>,

    /// Group match, set when `kind` is `Group`.
    #[field(3)]
    pub group: Option<GroupSubject>,

    /// Service account match, set when `kind` is `ServiceAccount`.
    #[field(4)]
    pub service_account: Option<ServiceAccountSubject>,
}

/// Category of requester a FlowSchema rule can match.
#[open]
pub enum SubjectKind {
    User,
    Group,
    ServiceAccount,
}

/// Matches requests from one authenticated username.
#[check(name, filled)]
pub struct UserSubject {
    /// Username to match, with `*` covering all users.
    #[field(1, required)]
    pub name: String,
}

/// Matches requests whose user belongs to a given group.
#[check(name, filled)]
pub struct GroupSubject {
    /// Group to match, `*` for any; for instance `system:authenticated`.
    #[field(1, required)]
    pub name: String,
}

/// Matches requests made by one, or all, service accounts in a namespace.
#[check(name, filled)]
#[check(name, optional, name = dns1123_subdomain, when(not(name = "*")))]
#[check(namespace, required = "must specify namespace for service account", name = dns1123_label)]
pub struct ServiceAccountSubject {
    /// Namespace holding the service account; mandatory.
    #[field(1, required)]
    pub namespace: String,

    /// Service account to match, or `*` for any in the namespace.
    #[field(2, required)]
    pub name: String,
}

/// Matches requests to API resources by verb, group, resource and scope.
#[check(verbs, filled = "verbs must contain at least one value")]
#[check(
    verbs,
    invalid = "if '*' is present, must not specify other verbs",
    when(verbs = "*", not(single(verbs)))
)]
#[check(
    verbs,
    one_of(create, delete, deletecollection, get, list, patch, proxy, update, watch),
    when(not(verbs = "*"))
)]
#[check(apiGroups, filled = "resource rules must supply at least one api group")]
#[check(
    apiGroups,
    invalid = "if '*' is present, must not specify other api groups",
    when(apiGroups = "*", not(single(apiGroups)))
)]
#[check(resources, filled = "resource rules must supply at least one resource")]
#[check(
    resources,
    invalid = "if '*' is present, must not specify other resources",
    when(resources = "*", not(single(resources)))
)]
#[check(
    namespaces,
    filled = "resource rules that are not cluster scoped must supply at least one namespace",
    when(clusterScope = false)
)]
#[check(
    namespaces,
    invalid = "if '*' is present, must not specify other namespaces",
    when(namespaces = "*", not(single(namespaces)))
)]
#[check(namespaces, each(format = listed_namespace), when(not(namespaces = "*")))]
pub struct ResourcePolicyRule {
    /// Request verbs like `get` or `watch`; a sole `*` matches all.
    #[field(1, required, list = set)]
    pub verbs: Vec<String>,

    /// API groups to match, empty string being core; a sole `*` matches all.
    #[field(2, required, list = set)]
    pub api_groups: Vec<String>,

    /// Plural resource names, with subresources as `pods/log`; a sole `*` matches all.
    #[field(3, required, list = set)]
    pub resources: Vec<String>,

    /// Also match requests without a namespace when true.
    #[field(4)]
    pub cluster_scope: bool,

    /// Target namespaces to match; a sole `*` covers every namespaced request.
    #[field(5, always, list = set)]
    pub namespaces: Vec<String>,
}

/// Matches requests for plain URL paths like `/healthz`, by verb and path.
#[check(verbs, filled = "verbs must contain at least one value")]
#[check(
    verbs,
    invalid = "if '*' is present, must not specify other verbs",
    when(verbs = "*", not(single(verbs)))
)]
#[check(
    verbs,
    one_of(create, delete, deletecollection, get, list, patch, proxy, update, watch),
    when(not(verbs = "*"))
)]
#[check(nonResourceURLs, filled = "nonResourceURLs must contain at least one value")]
#[check(
    nonResourceURLs,
    invalid = "if '*' is present, must not specify other non-resource URLs",
    when(nonResourceURLs = "*", not(single(nonResourceURLs)))
)]
#[check(nonResourceURLs, each(format = non_resource_path), when(not(nonResourceURLs = "*")))]
pub struct NonResourcePolicyRule {
    /// Lowercase HTTP verbs to match, or a lone `*` for all.
    #[field(1, required, list = set)]
    pub verbs: Vec<String>,

    /// Paths to match; a trailing `/*` covers subpaths and `*` covers everything.
    #[field(6, required, list = set)]
    pub non_resource_urls: Vec<String>,
}

/// Observed health of a FlowSchema.
pub struct FlowSchemaStatus {
    /// FlowSchema observations, one entry per condition type.
    #[field(1, list = map(type), patch = merge)]
    pub conditions: Vec<FlowSchemaCondition>,
}

/// One named observation about a FlowSchema.
#[check(type, distinct)]
#[check(type, filled)]
pub struct FlowSchemaCondition {
    /// Condition name; `Dangling` signals a priority level that does not exist.
    #[field(1, go = "FlowSchemaConditionType")]
    pub r#type: String,

    /// Condition value, `True`, `False` or `Unknown`; required.
    #[field(2)]
    pub status: ConditionStatus,

    /// When this FlowSchema condition last switched value.
    #[field(3, always)]
    pub last_transition_time: Time,

    /// CamelCase token telling why the FlowSchema condition switched.
    #[field(4)]
    pub reason: String,

    /// Operator-oriented detail on the FlowSchema condition.
    #[field(5)]
    pub message: String,
}

mod v1beta2 {
    #[differs(FlowSchemaStatus)]
    struct FlowSchemaStatus {
        /// FlowSchema observations, one entry per condition type.
        #[field(1, list = map(type))]
        conditions: Vec<FlowSchemaCondition>,
    }
}

mod v1beta1 {
    #[differs(FlowSchemaStatus)]
    struct FlowSchemaStatus {
        /// FlowSchema observations, one entry per condition type.
        #[field(1, list = map(type))]
        conditions: Vec<FlowSchemaCondition>,
    }
}
