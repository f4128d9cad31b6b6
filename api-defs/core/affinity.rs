use crate::meta::LabelSelector;

/// Scheduling rules attracting pods to, or keeping them from, nodes and other pods.
#[check(nodeAffinity, below)]
#[check(podAffinity, below)]
#[check(podAntiAffinity, below)]
pub struct Affinity {
    /// Rules choosing nodes by their labels or fields.
    #[field(1)]
    pub node_affinity: Option<NodeAffinity>,

    /// Rules placing the pod near certain other pods.
    #[field(2)]
    pub pod_affinity: Option<PodAffinity>,

    /// Rules keeping the pod away from certain other pods.
    #[field(3)]
    pub pod_anti_affinity: Option<PodAntiAffinity>,
}

/// Rules attracting a pod to nodes by their labels.
#[check(requiredDuringSchedulingIgnoredDuringExecution, below)]
#[check(preferredDuringSchedulingIgnoredDuringExecution, below)]
pub struct NodeAffinity {
    /// Hard rule: the pod stays pending unless a node matches; running pods are unaffected.
    #[field(1)]
    pub required_during_scheduling_ignored_during_execution: Option<NodeSelector>,

    /// Soft rules: matching weights are summed to favour better-scoring nodes.
    #[field(2, list = atomic)]
    pub preferred_during_scheduling_ignored_during_execution: Vec<PreferredSchedulingTerm>,
}

/// Alternatives for picking nodes; a node qualifies by satisfying any term.
#[structure(atomic)]
#[check(nodeSelectorTerms, filled = "must have at least one node selector term", below)]
pub struct NodeSelector {
    /// Candidate terms, of which at least one must match.
    #[field(1, required, list = atomic)]
    pub node_selector_terms: Vec<NodeSelectorTerm>,
}

/// Set of comparisons that must all hold; an empty term matches no node.
#[structure(atomic)]
#[check(matchExpressions, below)]
#[check(matchExpressions, below = any_values, when(part(any_values)))]
#[check(matchFields, below = fields, when(part(default, any_values)))]
pub struct NodeSelectorTerm {
    /// Comparisons evaluated against node labels.
    #[field(1, list = atomic)]
    pub match_expressions: Vec<NodeSelectorRequirement>,

    /// Comparisons evaluated against node fields; only `metadata.name` is supported.
    #[field(2, list = atomic)]
    pub match_fields: Vec<NodeSelectorRequirement>,
}

/// Single comparison against a node label or field.
#[check(
    values,
    missing = "must be specified when `operator` is 'In' or 'NotIn'",
    when(part(default, any_values), operator = (In, NotIn), unset(values))
)]
#[check(
    values,
    forbidden = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    when(part(default, any_values), operator = (Exists, DoesNotExist))
)]
#[check(
    values,
    missing = "must be specified single value when `operator` is 'Lt' or 'Gt'",
    when(part(default, any_values), operator = (Gt, Lt), not(single(values)))
)]
#[check(
    operator,
    invalid = "not a valid selector operator",
    when(part(default, any_values), not(operator = (In, NotIn, Exists, DoesNotExist, Gt, Lt)))
)]
#[check(key, format = qualified_name, when(part(default, any_values)))]
#[check(values, each(format = label_value), when(not(option(any_values_of_nodes))))]
#[check(
    values,
    missing = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
    when(part(fields), operator = (In, NotIn), not(single(values)))
)]
#[check(
    operator,
    invalid = "not a valid selector operator",
    when(part(fields), not(operator = (In, NotIn)))
)]
#[check(
    key,
    invalid = "not a valid field selector key",
    when(part(fields), not(key = "metadata.name"))
)]
#[check(values, each(name = dns1123_subdomain), when(part(fields), key = "metadata.name"))]
pub struct NodeSelectorRequirement {
    /// Label or field name to examine.
    #[field(1, required)]
    pub key: String,

    /// Comparison to perform: `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`.
    #[field(2, required)]
    pub operator: NodeSelectorOperator,

    /// Operands; leave empty for existence tests, give one integer for `Gt` and `Lt`.
    #[field(3, list = atomic)]
    pub values: Vec<String>,
}

/// Comparison used to match node labels; `Gt` and `Lt` are numeric.
pub enum NodeSelectorOperator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
    Gt,
    Lt,
}

/// Soft node preference together with its importance.
#[check(weight, range(1, 100, "must be in the range 1-100"))]
#[check(preference, below = any_values)]
pub struct PreferredSchedulingTerm {
    /// Points from 1 to 100 added for nodes that match.
    #[field(1, required)]
    pub weight: i32,

    /// Node term that earns the points.
    #[field(2, required)]
    pub preference: NodeSelectorTerm,
}

/// Rules drawing a pod towards topology domains where certain pods already run.
#[check(requiredDuringSchedulingIgnoredDuringExecution, below)]
#[check(preferredDuringSchedulingIgnoredDuringExecution, below)]
#[check(
    requiredDuringSchedulingIgnoredDuringExecution,
    below = known_values,
    when(part(known_values))
)]
#[check(
    preferredDuringSchedulingIgnoredDuringExecution.podAffinityTerm,
    below = known_values,
    when(part(known_values))
)]
pub struct PodAffinity {
    /// Hard co-location terms, all of which must hold at scheduling time.
    #[field(1, list = atomic)]
    pub required_during_scheduling_ignored_during_execution: Vec<PodAffinityTerm>,

    /// Weighted co-location wishes that raise a node's score.
    #[field(2, list = atomic)]
    pub preferred_during_scheduling_ignored_during_execution: Vec<WeightedPodAffinityTerm>,
}

/// Describes which pods to be near or away from, and in what domain.
#[check(labelSelector, by_hand = validate_selector_of_pods)]
#[check(namespaceSelector, by_hand = validate_selector_of_pods)]
#[check(namespaces, each(at("../namespace", name = dns1123_label)))]
#[check(
    matchLabelKeys,
    forbidden = "must not be specified when labelSelector is not set",
    when(unset(labelSelector))
)]
#[check(matchLabelKeys, each(format = qualified_name), when(set(labelSelector)))]
#[check(
    mismatchLabelKeys,
    forbidden = "must not be specified when labelSelector is not set",
    when(unset(labelSelector))
)]
#[check(mismatchLabelKeys, each(format = qualified_name), when(set(labelSelector)))]
#[check(self, by_hand = validate_merged_keys_of_term, when(set(labelSelector), set(matchLabelKeys)))]
#[check(self, open(mismatched), when(set(matchLabelKeys), set(mismatchLabelKeys)))]
#[check(mismatchLabelKeys, each(note = mismatched), when(set(matchLabelKeys)))]
#[check(
    matchLabelKeys,
    each(unnoted(mismatched, "exists in both matchLabelKeys and mismatchLabelKeys"))
)]
#[check(topologyKey, filled = "can not be empty", format = qualified_name)]
#[check(
    labelSelector.matchExpressions.values,
    each(format = label_value),
    when(part(known_values))
)]
#[check(
    namespaceSelector.matchExpressions.values,
    each(format = label_value),
    when(part(known_values))
)]
pub struct PodAffinityTerm {
    /// Selects the other pods by label; unset selects none.
    #[field(1)]
    pub label_selector: Option<LabelSelector>,

    /// Explicit namespaces in which to look for those pods.
    #[field(2, list = atomic)]
    pub namespaces: Vec<String>,

    /// Node label defining the domain, e.g. `kubernetes.io/hostname`; required.
    #[field(3, required)]
    pub topology_key: String,

    /// Adds namespaces by label; `{}` means all, unset relies on `namespaces`.
    #[field(4)]
    pub namespace_selector: Option<LabelSelector>,

    /// Keys whose values on the incoming pod are added as `In` requirements.
    #[field(5, list = atomic)]
    pub match_label_keys: Vec<String>,

    /// Keys whose values on the incoming pod are added as `NotIn` requirements.
    #[field(6, list = atomic)]
    pub mismatch_label_keys: Vec<String>,
}

/// Soft pod affinity or anti-affinity term with its importance.
#[check(weight, range(1, 100, "must be in the range 1-100"))]
#[check(podAffinityTerm, below)]
pub struct WeightedPodAffinityTerm {
    /// Importance from 1 to 100 in the node's score.
    #[field(1, required)]
    pub weight: i32,

    /// Which pods and topology domain the preference is about.
    #[field(2, required)]
    pub pod_affinity_term: PodAffinityTerm,
}

/// Rules keeping a pod out of topology domains where certain pods run.
#[check(requiredDuringSchedulingIgnoredDuringExecution, below)]
#[check(preferredDuringSchedulingIgnoredDuringExecution, below)]
#[check(
    requiredDuringSchedulingIgnoredDuringExecution,
    below = known_values,
    when(part(known_values))
)]
#[check(
    preferredDuringSchedulingIgnoredDuringExecution.podAffinityTerm,
    below = known_values,
    when(part(known_values))
)]
pub struct PodAntiAffinity {
    /// Hard separation terms; a violating node is ruled out.
    #[field(1, list = atomic)]
    pub required_during_scheduling_ignored_during_execution: Vec<PodAffinityTerm>,

    /// Weighted separation wishes; violating nodes merely score lower.
    #[field(2, list = atomic)]
    pub preferred_during_scheduling_ignored_during_execution: Vec<WeightedPodAffinityTerm>,
}

/// Topology restriction used by StorageClasses for provisioning.
#[structure(atomic)]
#[check(matchLabelExpressions, below)]
pub struct TopologySelectorTerm {
    /// Label restrictions that all have to be met.
    #[field(1, list = atomic)]
    pub match_label_expressions: Vec<TopologySelectorLabelRequirement>,
}

/// Restricts provisioning to certain values of one topology label.
#[check(values, filled, each(distinct))]
#[check(key, format = qualified_name)]
#[check(key, distinct)]
pub struct TopologySelectorLabelRequirement {
    /// Topology label, such as `topology.kubernetes.io/zone`.
    #[field(1, required)]
    pub key: String,

    /// Permitted label values; any one of them suffices.
    #[field(2, required, list = atomic)]
    pub values: Vec<String>,
}

/// Controls how evenly matching pods are distributed over topology domains.
#[check(maxSkew, positive)]
#[check(topologyKey, filled = "can not be empty")]
#[check(whenUnsatisfiable, one_of(DoNotSchedule, ScheduleAnyway))]
#[check(minDomains, positive, when(part(rest)))]
#[check(
    minDomains,
    invalid = "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {whenUnsatisfiable}",
    when(part(rest), set(minDomains), not(whenUnsatisfiable = DoNotSchedule))
)]
#[check(nodeAffinityPolicy, one_of(Honor, Ignore), when(part(rest)))]
#[check(nodeTaintsPolicy, one_of(Honor, Ignore), when(part(rest)))]
#[check(self, below = merged, when(part(rest), not(option(separate_label_keys))))]
#[check(self, below = separate, when(part(rest), option(separate_label_keys)))]
#[check(labelSelector, below, when(part(rest), not(option(any_spread_selector))))]
#[check(
    matchLabelKeys,
    forbidden = "must not be specified when labelSelector is not set",
    when(part(merged, separate), unset(labelSelector))
)]
#[check(matchLabelKeys, each(format = qualified_name), when(part(merged), set(labelSelector)))]
#[check(
    self,
    by_hand = validate_merged_keys_of_constraint,
    when(part(merged), set(labelSelector), set(matchLabelKeys))
)]
#[check(self, open(selected_keys), when(part(separate), set(matchLabelKeys)))]
#[check(labelSelector.matchLabels, keys(note = selected_keys), when(part(separate)))]
#[check(labelSelector.matchExpressions.key, note = selected_keys, when(part(separate)))]
#[check(
    matchLabelKeys,
    each(
        format = qualified_name,
        unnoted(selected_keys, "exists in both matchLabelKeys and labelSelector")
    ),
    when(part(separate))
)]
pub struct TopologySpreadConstraint {
    /// Greatest tolerated difference in pod count between domains; must be above zero.
    #[field(1, required)]
    pub max_skew: i32,

    /// Node label whose values form the domains.
    #[field(2, required)]
    pub topology_key: String,

    /// Default `DoNotSchedule` keeps the pod pending; `ScheduleAnyway` treats it as a preference.
    #[field(3, required)]
    pub when_unsatisfiable: UnsatisfiableConstraintAction,

    /// Selects the pods counted in each domain.
    #[field(4)]
    pub label_selector: Option<LabelSelector>,

    /// Fewest eligible domains before the global minimum is treated as zero; needs `DoNotSchedule`.
    #[field(5)]
    pub min_domains: Option<i32>,

    /// With `Honor` (default), nodes ruled out by the pod's affinity are not counted.
    #[field(6)]
    pub node_affinity_policy: Option<NodeInclusionPolicy>,

    /// Use `Honor` to count only tolerated nodes; the default `Ignore` counts tainted ones too.
    #[field(7)]
    pub node_taints_policy: Option<NodeInclusionPolicy>,

    /// Pod label keys, such as `pod-template-hash`, narrowing the counted pods to one revision.
    #[field(8, list = atomic)]
    pub match_label_keys: Vec<String>,
}

/// Scheduler behaviour when a topology spread limit would be broken: refuse or merely deprioritise.
pub enum UnsatisfiableConstraintAction {
    DoNotSchedule,
    ScheduleAnyway,
}

/// Whether a node property is respected or disregarded when computing spread.
pub enum NodeInclusionPolicy {
    Ignore,
    Honor,
}
