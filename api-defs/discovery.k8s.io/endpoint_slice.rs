use crate::core::{ObjectReference, Protocol};
use crate::meta::ObjectMeta;

/// A chunk of a Service's backends, sharing one address family and port list.
#[kind(plural = "endpointslices", scope = Namespaced, generation, metadata = whole)]
#[versions(
    v1(introduced = "1.21"),
    v1beta1(
        introduced = "1.16",
        deprecated = "1.21",
        removed = "1.25",
        replacement = "discovery.k8s.io/v1 EndpointSlice"
    )
)]
#[column("AddressType", addressType)]
#[column("Ports", by_hand = endpoint_slice_ports, reads(ports), "Ports of every endpoint in the slice.")]
#[column("Endpoints", by_hand = endpoint_slice_endpoints, reads(endpoints.addresses), "Addresses of the endpoints in the slice; only the first few are shown.")]
#[column("Age", age)]
#[strategy(create = create_endpoint_slice, update = update_endpoint_slice, warnings = warn_endpoint_slice)]
#[check(self, choose(addresses_ipv4, addressType = IPv4))]
#[check(self, choose(addresses_ipv6, addressType = IPv6))]
#[check(self, choose(addresses_fqdn, addressType = FQDN))]
#[check(addressType, required, one_of(FQDN, IPv4, IPv6))]
#[check(ports, max_items = 20000, valid, below)]
#[check(endpoints, max_items = 1000, valid, below, when(changed(endpoints)))]
#[check(addressType, immutable)]
pub struct EndpointSlice {
    /// Name, labels and owner; label `kubernetes.io/service-name` ties the slice to its Service.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Address family shared by all backends in the slice; cannot be changed after creation.
    #[field(4, required)]
    pub address_type: AddressType,

    /// Backends held in this slice, up to 1000 of them.
    #[field(2, always, list = atomic)]
    pub endpoints: Vec<Endpoint>,

    /// Ports offered by every backend here, limited to 100 entries.
    #[field(3, always, list = atomic)]
    pub ports: Vec<EndpointPort>,
}

/// Address family of a slice; `FQDN` is deprecated and kube-proxy ignores it.
pub enum AddressType {
    IPv4,
    IPv6,
    FQDN,
}

/// One network backend behind a Service, usually a single pod, with its addresses and health.
#[check(addresses, filled = "must contain at least 1 address", max_items = 100)]
#[check(
    addresses,
    each(format = ip_address, valid, at(".", format = ipv4_address), format = endpoint_ip),
    when(option(addresses_ipv4), gate(StrictIPCIDRValidation))
)]
#[check(
    addresses,
    each(format = lenient_ip_address, valid, at(".", format = ipv4_address), format = endpoint_ip),
    when(option(addresses_ipv4), not(gate(StrictIPCIDRValidation)))
)]
#[check(
    addresses,
    each(format = is_valid_ip, valid, at(".", format = ipv6_address), format = endpoint_ip),
    when(option(addresses_ipv6))
)]
#[check(
    addresses,
    each(format = fully_qualified_domain_name),
    when(option(addresses_fqdn))
)]
#[check(nodeName, name = dns1123_subdomain)]
#[check(deprecatedTopology, max_items = 16, labels)]
#[check(self, by_hand = validate_topology)]
#[check(hostname, name = dns1123_label)]
#[check(hints, below)]
pub struct Endpoint {
    /// IPs or FQDN for this backend, matching the slice's `addressType`; consumers normally use the first.
    #[field(1, required, list = set)]
    pub addresses: Vec<String>,

    /// Health flags telling proxies whether this backend should receive traffic.
    #[field(2)]
    pub conditions: EndpointConditions,

    /// DNS label giving this backend its own record under a headless Service.
    #[field(3)]
    pub hostname: Option<String>,

    /// Points at the object behind this backend, typically a Pod.
    #[field(4)]
    pub target_ref: Option<ObjectReference>,

    /// Leftover topology labels from the v1beta1 API, kept only so old data survives conversion.
    #[field(5, deprecated)]
    pub deprecated_topology: Map<String, String>,

    /// Node where this backend runs, used for local traffic policies.
    #[field(6)]
    pub node_name: Option<String>,

    /// Availability zone hosting this backend, feeding topology-aware routing.
    #[field(7)]
    pub zone: Option<String>,

    /// Suggestions to proxies about which zones or nodes should use this backend.
    #[field(8)]
    pub hints: Option<EndpointHints>,
}

/// Trio of readiness, serving and termination flags attached to a single backend.
pub struct EndpointConditions {
    /// True when the backend accepts new connections; unset should be treated as true.
    #[field(1)]
    pub ready: Option<bool>,

    /// Mirrors pod readiness even during shutdown, letting proxies drain to terminating backends.
    #[field(2)]
    pub serving: Option<bool>,

    /// Set to true once the backing pod has a deletion timestamp.
    #[field(3)]
    pub terminating: Option<bool>,
}

/// Topology advice computed by the EndpointSlice controller and read by kube-proxy.
#[check(forZones, max_items = 8, valid, below)]
#[check(forNodes, max_items = 8, valid, below, when(holds(forZones, max_items = 8)))]
pub struct EndpointHints {
    /// Zones whose clients should prefer this backend; at most eight entries.
    #[field(1, list = atomic)]
    pub for_zones: Vec<ForZone>,

    /// Nodes whose clients should prefer this backend; at most eight entries.
    #[field(2, list = atomic)]
    pub for_nodes: Vec<ForNode>,
}

/// Identifies an availability zone in an endpoint routing hint.
#[check(name, distinct)]
#[check(name, format = label_value)]
pub struct ForZone {
    /// Zone, as found in the `topology.kubernetes.io/zone` node label.
    #[field(1, required)]
    pub name: String,
}

/// Identifies a node in an endpoint routing hint.
#[check(name, distinct)]
#[check(name, format = dns1123_subdomain)]
pub struct ForNode {
    /// Node name whose traffic should favour the endpoint.
    #[field(1, required)]
    pub name: String,
}

/// A port every backend in the slice listens on, with optional name and protocol.
#[structure(atomic)]
#[check(name, name = dns1123_label, when(not(name = "")))]
#[check(name, distinct)]
#[check(protocol, required, one_of(SCTP, TCP, UDP))]
#[check(appProtocol, format = qualified_name)]
pub struct EndpointPort {
    /// Matches the Service port name; empty is allowed, but names must not repeat within a slice.
    #[field(1, default_hidden = "")]
    pub name: Option<String>,

    /// Transport in use: `TCP`, `UDP` or `SCTP`, defaulting to `TCP`.
    #[field(2, default_hidden = TCP)]
    pub protocol: Option<Protocol>,

    /// Numeric backend port; what a missing value means depends on the consumer.
    #[field(3)]
    pub port: Option<i32>,

    /// Application protocol hint for proxies and gateways, for example `kubernetes.io/h2c`.
    #[field(4)]
    pub app_protocol: Option<String>,
}

mod v1beta1 {
    #[differs(EndpointSlice)]
    struct EndpointSlice {
        /// Backends held in this slice, up to 1000 of them.
        #[field(2, required, list = atomic)]
        endpoints: Vec<Endpoint>,
    }

    #[differs(Endpoint)]
    struct Endpoint {
        #[gone]
        deprecated_topology: (),

        /// Beta-era map of node labels such as hostname and zone, superseded by `nodeName` and `zone`.
        #[field(5)]
        topology: Map<String, String>,

        #[gone]
        zone: (),

        /// Suggestions to proxies about which zones or nodes should use this backend.
        #[field(7)]
        hints: Option<EndpointHints>,
    }

    #[convert(Endpoint, by_hand = v1beta1_endpoint, here(topology), hub(deprecatedTopology, zone))]
    struct Topology;
}
