use crate::meta::ObjectMeta;

/// Caps total resource use and object counts in a namespace.
#[kind(plural = "resourcequotas", short = "quota", scope = Namespaced, delete_returns_object, generation = false)]
#[versions(v1(introduced = "1.0"))]
#[subresource(status, resets(spec))]
#[column("Request", by_hand = resource_quota_request, reads(status.hard, status.used), "Requests in use and their limits, by resource.")]
#[column("Limit", by_hand = resource_quota_limit, reads(status.hard, status.used), "Limits in use and how much they may be, by resource.")]
#[column("Age", age)]
#[strategy(warnings = warn_resource_quota)]
#[check(spec, below, when(not(subresource = status)))]
#[check(self, by_hand = validate_scopes_change, when(update, not(subresource = status)))]
#[check(
    status.hard,
    each(key(format = quota_resource_name), amount),
    when(any(create, subresource = status))
)]
#[check(
    status.used,
    each(key(format = quota_resource_name), amount),
    when(any(create, subresource = status))
)]
pub struct ResourceQuota {
    /// Name and labels of the quota object.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Caps to enforce and what they apply to.
    #[field(2)]
    pub spec: ResourceQuotaSpec,

    /// Caps in effect and how much of each is used.
    #[field(3)]
    pub status: ResourceQuotaStatus,
}

/// Caps plus optional filters on which objects count.
#[default(by_hand = default_resource_quota_spec)]
#[check(hard, each(key(format = quota_resource_name), amount))]
#[check(self, by_hand = validate_scopes)]
#[check(scopes, invalid = "conflicting scopes", when(scopes = BestEffort, scopes = NotBestEffort))]
#[check(scopes, invalid = "conflicting scopes", when(scopes = Terminating, scopes = NotTerminating))]
#[check(self, by_hand = validate_scope_selector, when(set(scopeSelector)))]
#[check(
    scopes,
    at("scopeSelector.matchExpressions", invalid = "conflicting scopes"),
    when(
        scopeSelector.matchExpressions.scopeName = BestEffort,
        scopeSelector.matchExpressions.scopeName = NotBestEffort
    )
)]
#[check(
    scopes,
    at("scopeSelector.matchExpressions", invalid = "conflicting scopes"),
    when(
        scopeSelector.matchExpressions.scopeName = Terminating,
        scopeSelector.matchExpressions.scopeName = NotTerminating
    )
)]
pub struct ResourceQuotaSpec {
    /// Upper bound per item, for example `pods: 10` or `requests.cpu: 4`.
    #[field(1)]
    pub hard: Map<String, Quantity>,

    /// Counts just the objects that fit every scope listed; empty counts all.
    #[field(2, list = atomic)]
    pub scopes: Vec<ResourceQuotaScope>,

    /// Expression-based filter, e.g. on PriorityClass, for objects that count.
    #[field(3)]
    pub scope_selector: Option<ScopeSelector>,
}

/// Filter that decides which objects a quota counts.
pub enum ResourceQuotaScope {
    Terminating,
    NotTerminating,
    BestEffort,
    NotBestEffort,
    PriorityClass,
    CrossNamespacePodAffinity,
    VolumeAttributesClass,
}

/// Set of scope expressions that objects must all satisfy.
#[structure(atomic)]
pub struct ScopeSelector {
    /// Individual expressions, combined with AND.
    #[field(1, list = atomic)]
    pub match_expressions: Vec<ScopedResourceSelectorRequirement>,
}

/// Single test on a quota scope.
#[check(
    operator,
    invalid = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
    when(
        scopeName = (
            Terminating,
            NotTerminating,
            BestEffort,
            NotBestEffort,
            CrossNamespacePodAffinity
        ),
        not(operator = Exists)
    )
)]
#[check(
    values,
    missing = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
    when(operator = (In, NotIn), unset(values))
)]
#[check(
    values,
    invalid = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
    when(operator = (Exists, DoesNotExist), set(values))
)]
#[check(
    operator,
    invalid = "not a valid selector operator",
    when(not(operator = (In, NotIn, Exists, DoesNotExist)))
)]
pub struct ScopedResourceSelectorRequirement {
    /// Scope being tested, e.g. `PriorityClass`.
    #[field(1, required)]
    pub scope_name: ResourceQuotaScope,

    /// Comparison to make: `In`, `NotIn`, `Exists` or `DoesNotExist`.
    #[field(2, required)]
    pub operator: ScopeSelectorOperator,

    /// Operands for `In` and `NotIn`; must be empty otherwise.
    #[field(3, list = atomic)]
    pub values: Vec<String>,
}

/// Comparison used in quota scope expressions.
pub enum ScopeSelectorOperator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

/// Consumption compared with the enforced caps.
#[default(by_hand = default_resource_quota_status)]
pub struct ResourceQuotaStatus {
    /// Caps that are currently enforced.
    #[field(1)]
    pub hard: Map<String, Quantity>,

    /// Amounts consumed so far in the namespace.
    #[field(2)]
    pub used: Map<String, Quantity>,
}
