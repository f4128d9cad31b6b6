use crate::meta::ObjectMeta;

/// Legacy list of a Service's backend addresses; superseded by EndpointSlice and deprecated since v1.33.
#[kind(plural = "endpoints", short = "ep", scope = Namespaced, prefix = "services/endpoints", create_on_update, metadata = both)]
#[versions(v1(introduced = "1.0", deprecated = "1.33", replacement = "discovery.k8s.io/v1 EndpointSlice"))]
#[column("Endpoints", by_hand = endpoints_endpoints, reads(subsets), "Addresses and ports that are ready; only the first few are shown.")]
#[column("Age", age)]
#[strategy(warnings = warn_endpoints)]
#[check(subsets, below, when(changed(subsets)))]
pub struct Endpoints {
    /// Identifying metadata; the name must equal that of the Service it backs.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Address-and-port groups that together form the full backend list.
    #[field(2, list = atomic)]
    pub subsets: Vec<EndpointSubset>,
}

/// Group of addresses that all share an identical set of ports.
#[deprecated]
#[check(
    self,
    missing = "must specify `addresses` or `notReadyAddresses`",
    when(none(addresses, notReadyAddresses))
)]
#[check(addresses, below)]
#[check(notReadyAddresses, below)]
#[check(ports, below)]
pub struct EndpointSubset {
    /// Backends that are ready and may receive traffic.
    #[field(1, list = atomic)]
    pub addresses: Vec<EndpointAddress>,

    /// Backends known but currently withheld because they are starting or failing readiness.
    #[field(2, list = atomic)]
    pub not_ready_addresses: Vec<EndpointAddress>,

    /// Ports available on each address in the group.
    #[field(3, list = atomic)]
    pub ports: Vec<EndpointPort>,
}

/// A single backend IP listed in an Endpoints object.
#[structure(atomic)]
#[deprecated]
#[check(ip, format = ip_address, when(gate(StrictIPCIDRValidation)))]
#[check(ip, format = lenient_ip_address, when(not(gate(StrictIPCIDRValidation))))]
#[check(hostname, optional, name = dns1123_label)]
#[check(nodeName, name = dns1123_subdomain)]
#[check(ip, format = endpoint_ip)]
pub struct EndpointAddress {
    /// Backend IP; loopback, link-local and link-local multicast ranges are rejected.
    #[field(1, required)]
    pub ip: String,

    /// DNS label under which this backend can be resolved within a headless Service.
    #[field(3)]
    pub hostname: String,

    /// Node on which the backend runs, if known.
    #[field(4)]
    pub node_name: Option<String>,

    /// Object behind the address, almost always a Pod.
    #[field(2)]
    pub target_ref: Option<ObjectReference>,
}

/// A port number offered by every address of the subset.
#[structure(atomic)]
#[deprecated]
#[check(name, filled, when(several))]
#[check(name, optional, name = dns1123_label)]
#[check(port, port)]
#[check(protocol, required, one_of(SCTP, TCP, UDP))]
#[check(appProtocol, format = qualified_name)]
pub struct EndpointPort {
    /// Matches the Service port name; may be blank only with a single port.
    #[field(1)]
    pub name: String,

    /// Numeric port where the backends accept traffic.
    #[field(2, required)]
    pub port: i32,

    /// Transport spoken on this port; assumed `TCP` when left out.
    #[field(3, default_hidden = TCP)]
    pub protocol: Protocol,

    /// Hint about the application protocol, such as `kubernetes.io/h2c`, for smarter proxies.
    #[field(4)]
    pub app_protocol: Option<String>,
}
