use crate::core::Protocol;
use crate::meta::{LabelSelector, ObjectMeta};

/// Retired beta API for pod-level firewalling; use `networking.k8s.io/v1` now.
#[kind(stored_as = networking::v1::NetworkPolicy, list)]
#[versions(v1beta1(
    introduced = "1.3",
    deprecated = "1.9",
    removed = "1.16",
    replacement = "networking.k8s.io/v1 NetworkPolicy"
))]
#[default(by_hand = default_network_policy)]
pub struct NetworkPolicy {
    /// Naming and labels; the namespace determines which pods the policy can affect.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Pods to isolate and the traffic still permitted for them.
    #[field(2)]
    pub spec: NetworkPolicySpec,
}

/// Defines isolated pods along with their inbound and outbound allowances.
#[deprecated]
pub struct NetworkPolicySpec {
    /// Chooses which pods in the namespace are isolated; empty chooses all.
    #[field(1, required)]
    pub pod_selector: LabelSelector,

    /// Inbound allowances; an empty list blocks all incoming traffic to selected pods.
    #[field(2, list = atomic)]
    pub ingress: Vec<NetworkPolicyIngressRule>,

    /// Outbound allowances, effective once `Egress` appears in `policyTypes`.
    #[field(3, list = atomic)]
    pub egress: Vec<NetworkPolicyEgressRule>,

    /// Directions being restricted; inferred from the rules present when left out.
    #[field(4, list = atomic)]
    pub policy_types: Vec<PolicyType>,
}

/// Allows inbound traffic that satisfies both its port and source lists.
#[deprecated]
pub struct NetworkPolicyIngressRule {
    /// Ports on the selected pods that may be reached; empty opens all.
    #[field(1, list = atomic)]
    pub ports: Vec<NetworkPolicyPort>,

    /// Permitted sources, any of which suffices; empty means everyone.
    #[field(2, list = atomic)]
    pub from: Vec<NetworkPolicyPeer>,
}

/// Port, or port range, that a legacy policy rule opens.
#[deprecated]
pub struct NetworkPolicyPort {
    /// Transport to allow, `TCP` unless stated otherwise.
    #[field(1)]
    pub protocol: Option<Protocol>,

    /// Number or named container port; when missing, all ports match.
    #[field(2)]
    pub port: Option<IntOrString>,

    /// Upper end of a numeric port range that begins at `port`, inclusive.
    #[field(3)]
    pub end_port: Option<i32>,
}

/// Describes a traffic partner through labels or an IP range.
#[deprecated]
pub struct NetworkPolicyPeer {
    /// Picks partner pods by label, locally unless combined with `namespaceSelector`.
    #[field(1)]
    pub pod_selector: Option<LabelSelector>,

    /// Picks partner namespaces by label; an empty selector covers every namespace.
    #[field(2)]
    pub namespace_selector: Option<LabelSelector>,

    /// IP range of the partner; cannot be combined with either selector.
    #[field(3)]
    pub ip_block: Option<IPBlock>,
}

/// CIDR range allowed by a legacy NetworkPolicy, with optional holes.
#[deprecated]
pub struct IPBlock {
    /// Permitted range in CIDR notation, such as `192.168.1.0/24` or `2001:db8::/64`.
    #[field(1, required)]
    pub cidr: String,

    /// Sub-ranges carved out of `cidr`; each must lie inside it.
    #[field(2, list = atomic)]
    pub except: Vec<String>,
}

/// Allows outbound traffic that satisfies both its port and destination lists.
#[deprecated]
pub struct NetworkPolicyEgressRule {
    /// Destination ports permitted; leaving it empty permits all of them.
    #[field(1, list = atomic)]
    pub ports: Vec<NetworkPolicyPort>,

    /// Permitted destinations, any of which suffices; empty means anywhere.
    #[field(2, list = atomic)]
    pub to: Vec<NetworkPolicyPeer>,
}

/// Traffic direction that a NetworkPolicy restricts.
#[open]
pub enum PolicyType {
    Ingress,
    Egress,
}
