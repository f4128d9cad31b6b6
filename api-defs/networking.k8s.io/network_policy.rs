use crate::core::Protocol;
use crate::meta::{LabelSelector, ObjectMeta};

/// Pod-level firewall rules, enforced only if the network plugin supports them.
#[kind(plural = "networkpolicies", short = "netpol", scope = Namespaced, generation = exact)]
#[versions(v1(introduced = "1.7"))]
#[column("Pod-Selector", selector(spec.podSelector))]
#[column("Age", age)]
#[default(by_hand = default_network_policy)]
#[check(self, choose(any_selector_value, was(not(holds(spec.podSelector, below)))))]
#[check(self, by_hand = keep_ranges)]
#[check(spec, below)]
#[strategy(warnings = warn_network_policy)]
pub struct NetworkPolicy {
    /// Name and labels; policies act purely on pods in their own namespace.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Pod selection and the permitted traffic directions.
    #[field(2)]
    pub spec: NetworkPolicySpec,
}

/// Selected pods plus everything they may send or receive.
#[check(podSelector, below)]
#[check(ingress, below)]
#[check(egress, below)]
#[check(
    policyTypes,
    max_items(2, "may not specify more than two policyTypes"),
    valid,
    each(one_of(Ingress, Egress))
)]
pub struct NetworkPolicySpec {
    /// Pods that the policy isolates; `{}` covers the entire namespace.
    #[field(1)]
    pub pod_selector: LabelSelector,

    /// Allowed inbound traffic, additive across policies; none listed means all inbound denied.
    #[field(2, list = atomic)]
    pub ingress: Vec<NetworkPolicyIngressRule>,

    /// Allowed outbound traffic; remember to permit DNS when restricting it.
    #[field(3, list = atomic)]
    pub egress: Vec<NetworkPolicyEgressRule>,

    /// Directions under control; `Ingress` is always assumed if unset, `Egress` only with egress rules.
    #[field(4, list = atomic)]
    pub policy_types: Vec<PolicyType>,
}

/// One allowance for traffic entering the selected pods.
#[check(ports, below)]
#[check(from, below)]
pub struct NetworkPolicyIngressRule {
    /// Receiving ports allowed; omit to allow every port.
    #[field(1, list = atomic)]
    pub ports: Vec<NetworkPolicyPort>,

    /// Sources allowed, combined with OR; omit to allow all sources.
    #[field(2, list = atomic)]
    pub from: Vec<NetworkPolicyPeer>,
}

/// Port or port range opened by a policy rule.
#[check(protocol, one_of(TCP, UDP, SCTP))]
#[check(endPort, optional, invalid = "may not be specified when `port` is non-numeric", when(text(port)))]
#[check(port, port, at(endPort, at_most(endPort, "must be greater than or equal to `port`")))]
#[check(endPort, port, when(set(port), not(text(port))))]
#[check(endPort, optional, invalid = "may not be specified when `port` is not specified", when(unset(port)))]
pub struct NetworkPolicyPort {
    /// Transport allowed; `TCP` if nothing is stated.
    #[field(1, default_hidden = TCP)]
    pub protocol: Option<Protocol>,

    /// Port number or container port name; every port if missing.
    #[field(2)]
    pub port: Option<IntOrString>,

    /// Last port of the range starting at numeric `port`; must not be smaller.
    #[field(3)]
    pub end_port: Option<i32>,
}

/// Source or destination in a policy rule, given by labels or CIDR.
#[check(podSelector, below)]
#[check(namespaceSelector, below)]
#[check(ipBlock, below)]
#[check(self, missing = "must specify a peer", when(none(podSelector, namespaceSelector, ipBlock)))]
#[check(
    self,
    forbidden = "may not specify both ipBlock and another peer",
    when(set(ipBlock), not(none(podSelector, namespaceSelector)))
)]
pub struct NetworkPolicyPeer {
    /// Matches pods by label, in the policy's namespace unless `namespaceSelector` is also present.
    #[field(1)]
    pub pod_selector: Option<LabelSelector>,

    /// Matches whole namespaces, or narrows them together with `podSelector`.
    #[field(2)]
    pub namespace_selector: Option<LabelSelector>,

    /// Matches addresses by CIDR; both selectors must then be absent.
    #[field(3)]
    pub ip_block: Option<IPBlock>,
}

/// CIDR range a NetworkPolicy rule allows, minus excluded sub-ranges.
#[check(cidr, required)]
#[check(self, by_hand = validate_block, when(set(cidr)))]
pub struct IPBlock {
    /// Address range to allow, for instance `10.0.0.0/8` or `fd00::/8`.
    #[field(1, required)]
    pub cidr: String,

    /// CIDRs inside the range that stay blocked by this rule.
    #[field(2, list = atomic)]
    pub except: Vec<String>,
}

/// One allowance for traffic leaving the selected pods.
#[check(ports, below)]
#[check(to, below)]
pub struct NetworkPolicyEgressRule {
    /// Destination ports allowed; omit to allow every port.
    #[field(1, list = atomic)]
    pub ports: Vec<NetworkPolicyPort>,

    /// Destinations allowed, combined with OR; omit to allow all destinations.
    #[field(2, list = atomic)]
    pub to: Vec<NetworkPolicyPeer>,
}

/// Direction label for NetworkPolicy isolation.
pub enum PolicyType {
    Ingress,
    Egress,
}
