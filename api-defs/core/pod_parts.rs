/// Additional `/etc/hosts` line for the pod's containers.
#[check(ip, format = ip_address, when(gate(StrictIPCIDRValidation)))]
#[check(ip, format = lenient_ip_address, when(not(gate(StrictIPCIDRValidation))))]
#[check(hostnames, each(name = dns1123_subdomain))]
pub struct HostAlias {
    /// Address on the left-hand side of the hosts line.
    #[field(1, required)]
    pub ip: String,

    /// Names that resolve to the address.
    #[field(2, list = atomic)]
    pub hostnames: Vec<String>,
}

/// Custom resolver settings merged into what `dnsPolicy` generates.
#[check(nameservers, max_items(3, "must not have more than 3 nameservers"))]
#[check(nameservers, each(format = ip_address), when(gate(StrictIPCIDRValidation)))]
#[check(nameservers, each(format = lenient_ip_address), when(not(gate(StrictIPCIDRValidation))))]
#[check(searches, max_items(32, "must not have more than 32 search paths"))]
#[check(self, by_hand = validate_searches)]
#[check(searches, each(format = search_domain))]
#[check(options, below)]
pub struct PodDNSConfig {
    /// Resolver IPs appended to the generated list; three in total at most.
    #[field(1, list = atomic)]
    pub nameservers: Vec<String>,

    /// Domains appended for short-name lookups; up to 32 overall.
    #[field(2, list = atomic)]
    pub searches: Vec<String>,

    /// Resolver flags merged in, overriding generated ones of the same name.
    #[field(3, list = atomic)]
    pub options: Vec<PodDNSConfigOption>,
}

/// A single option line for `resolv.conf`.
#[check(name, at(".", required = "must not be empty"))]
pub struct PodDNSConfigOption {
    /// Option keyword such as `ndots`; must be present.
    #[field(1)]
    pub name: String,

    /// Setting for the option; leave out for plain flags.
    #[field(2)]
    pub value: Option<String>,
}

/// Extra condition that must be true before a pod counts as ready.
#[check(conditionType, format = qualified_name)]
pub struct PodReadinessGate {
    /// Condition name looked up in the pod's status, set by an outside controller.
    #[field(1, required)]
    pub condition_type: PodConditionType,
}

/// Whether pods may push out lower-priority ones.
pub enum PreemptionPolicy {
    PreemptLowerPriority,
    Never,
}

/// Declares which operating system a pod is built for.
pub struct PodOS {
    /// Either `linux` or `windows`; wrong combinations of OS-specific fields are rejected.
    #[field(1, required)]
    pub name: OSName,
}

/// Operating system family a pod targets.
#[open]
pub enum OSName {
    #[value("linux")]
    Linux,
    #[value("windows")]
    Windows,
}

/// Holds back scheduling of a pod until removed.
#[check(name, at(".", format = qualified_name))]
#[check(name, at(".", distinct))]
#[check(
    name,
    ratchet,
    refused = "only deletion is allowed, but found new scheduling gate '{name}'",
    when(part(added))
)]
pub struct PodSchedulingGate {
    /// Unique label of the gate, typically prefixed with its owner's domain.
    #[field(1, required)]
    pub name: String,
}

/// Gives a pod access to devices through a ResourceClaim.
#[check(
    self,
    at("/", forbidden = "static pods do not support resource claims"),
    when(option(static_pod))
)]
#[check(name, required, distinct, name = dns1123_label, when(not(option(static_pod))))]
#[check(
    self,
    invalid = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
    when(not(option(static_pod)), set(resourceClaimName), set(resourceClaimTemplateName))
)]
#[check(
    self,
    invalid = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
    when(not(option(static_pod)), none(resourceClaimName, resourceClaimTemplateName))
)]
#[check(resourceClaimName, name = dns1123_subdomain, when(not(option(static_pod))))]
#[check(resourceClaimTemplateName, name = dns1123_subdomain, when(not(option(static_pod))))]
pub struct PodResourceClaim {
    /// Pod-local handle that containers use in `resources.claims`.
    #[field(1, required)]
    pub name: String,

    /// Existing claim to use, potentially shared by several pods.
    #[field(3)]
    pub resource_claim_name: Option<String>,

    /// Template for a private claim, generated for and deleted with the pod.
    #[field(4)]
    pub resource_claim_template_name: Option<String>,
}

/// Ties a pod to a group that gets scheduled together.
#[union(members(podGroupName))]
#[check(podGroupName, invalid = "must specify one of: `podGroupName`", when(unset(podGroupName)))]
#[check(podGroupName, name = dns1123_subdomain)]
pub struct PodSchedulingGroup {
    /// PodGroup, in the same namespace, that the pod belongs to.
    #[field(1)]
    pub pod_group_name: Option<String>,
}
