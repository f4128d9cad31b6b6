use crate::meta::{Condition, ObjectMeta};

/// Stable virtual address and DNS name in front of a set of pods.
#[kind(
    plural = "services",
    short = "svc",
    category = "all",
    scope = Namespaced,
    prefix = "services/specs",
    create_on_update,
    delete_returns_object,
    generation = false,
    name = dns1123_label
)]
#[versions(v1(introduced = "1.0"))]
#[subresource(proxy, kind = core::v1::ServiceProxyOptions, verbs(create, delete, get, patch, update))]
#[subresource(status, resets(spec))]
#[column("Type", spec.type)]
#[column("Cluster-IP", by_hand = service_cluster_ip, reads(spec.clusterIPs), "First address within the cluster.")]
#[column("External-IP", by_hand = service_external_ip, reads(spec.externalIPs, spec.externalName, spec.type, status.loadBalancer), "Addresses that lead to it from outside of the cluster.")]
#[column("Port(s)", by_hand = service_ports, reads(spec.ports), "Ports that it listens at, node ports included.")]
#[column("Age", age)]
#[column("Selector", labels(spec.selector), priority = 1)]
#[selectable(spec.clusterIP)]
#[selectable(spec.type)]
#[default(spec.sessionAffinity = None)]
#[default(spec.type = ClusterIP)]
#[default(by_hand = default_service)]
#[strategy(create = create_service, update = update_service, warnings = warn_service)]
#[condition(headless, single(spec.clusterIPs), spec.clusterIPs = None)]
#[check(
    status.loadBalancer.ingress,
    forbidden = "may only be used when `spec.type` is 'LoadBalancer'",
    when(subresource = status, not(spec.type = LoadBalancer))
)]
#[check(status.loadBalancer.ingress, below, when(subresource = status, spec.type = LoadBalancer))]
#[check(
    spec,
    below = address_change,
    when(
        update,
        not(subresource = status),
        not(any(spec.type = ExternalName, was(spec.type = ExternalName))),
        not(all(headless, was(headless)))
    )
)]
#[check(
    spec,
    below = family_change,
    when(
        update,
        not(subresource = status),
        not(any(spec.type = ExternalName, was(spec.type = ExternalName))),
        not(any(headless, was(headless)))
    )
)]
#[check(spec, below = change, when(update, not(subresource = status)))]
#[check(
    metadata.annotations["service.kubernetes.io/topology-mode"],
    invalid = "must match annotations[service.kubernetes.io/topology-aware-hints] when both are specified",
    when(
        not(subresource = status),
        set(metadata.annotations["service.kubernetes.io/topology-mode"]),
        set(metadata.annotations["service.kubernetes.io/topology-aware-hints"]),
        not(same(
            metadata.annotations["service.kubernetes.io/topology-mode"],
            metadata.annotations["service.kubernetes.io/topology-aware-hints"]
        ))
    )
)]
#[check(spec, below, when(not(subresource = status)))]
#[check(
    spec.loadBalancerSourceRanges,
    at("LoadBalancerSourceRanges", forbidden = "may only be used when `type` is 'LoadBalancer'"),
    when(not(subresource = status), not(spec.type = LoadBalancer))
)]
#[check(
    metadata.annotations["service.beta.kubernetes.io/load-balancer-source-ranges"],
    refused = "may only be used when `type` is 'LoadBalancer'",
    when(
        not(subresource = status),
        not(spec.type = LoadBalancer),
        unset(spec.loadBalancerSourceRanges),
        set(metadata.annotations["service.beta.kubernetes.io/load-balancer-source-ranges"])
    )
)]
#[check(self, by_hand = validate_source_ranges, when(not(subresource = status)))]
#[check(spec, below = after, when(not(subresource = status)))]
pub struct Service {
    /// Service name, which becomes a DNS label, plus labels and annotations.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Selector, ports and exposure of the Service.
    #[field(2)]
    pub spec: ServiceSpec,

    /// Load balancer addresses and conditions, written by controllers.
    #[field(3)]
    pub status: ServiceStatus,
}

/// Settings that define how a Service selects backends and is exposed.
#[check(
    clusterIPs,
    at("clusterIPs[0]", invalid = "may not change once set"),
    when(
        part(address_change),
        set(clusterIPs[0]),
        was(set(clusterIPs[0])),
        changed(clusterIPs[0])
    )
)]
#[check(
    clusterIPs,
    at("clusterIPs[1]", invalid = "may not change once set"),
    when(
        part(address_change),
        not(resized(clusterIPs)),
        set(clusterIPs[1]),
        changed(clusterIPs[1])
    )
)]
#[check(
    clusterIPs,
    at("clusterIPs[0]", invalid = "primary clusterIP can not be unset"),
    when(part(address_change), unset(clusterIPs), was(set(clusterIPs)))
)]
#[check(
    ipFamilyPolicy,
    invalid = "must be set to 'SingleStack' when releasing the secondary clusterIP",
    when(
        part(address_change),
        resized(clusterIPs),
        single(clusterIPs),
        was(set(clusterIPs)),
        not(ipFamilyPolicy = SingleStack)
    )
)]
#[check(
    ipFamilies,
    at("ipFamilies[0]", invalid = "may not change once set"),
    when(
        part(family_change),
        not(resized(ipFamilies)),
        set(ipFamilies[0]),
        changed(ipFamilies[0])
    )
)]
#[check(
    ipFamilies,
    at("ipFamilies[0]", invalid = "may not change once set"),
    when(
        part(family_change),
        not(resized(ipFamilies)),
        set(ipFamilies[1]),
        changed(ipFamilies[1])
    )
)]
#[check(
    ipFamilies,
    at("ipFamilies[0]", invalid = "primary ipFamily can not be unset"),
    when(
        part(family_change),
        resized(ipFamilies),
        was(set(ipFamilies)),
        any(unset(ipFamilies), single(ipFamilies)),
        unset(clusterIPs)
    )
)]
#[check(
    clusterIPs,
    at("ipFamilies[0]", invalid = "may not change once set"),
    when(
        part(family_change),
        resized(ipFamilies),
        set(ipFamilies[0]),
        was(set(ipFamilies[0])),
        changed(ipFamilies[0])
    )
)]
#[check(
    ipFamilyPolicy,
    invalid = "must be set to 'SingleStack' when releasing the secondary ipFamily",
    when(
        part(family_change),
        resized(ipFamilies),
        single(ipFamilies),
        was(set(ipFamilies)),
        not(ipFamilyPolicy = SingleStack)
    )
)]
#[check(
    loadBalancerClass,
    immutable = "may not change once set",
    when(part(change), type = LoadBalancer, was(type = LoadBalancer))
)]
#[check(
    loadBalancerClass,
    forbidden = "may only be used when `type` is 'LoadBalancer'",
    when(part(change), not(type = LoadBalancer))
)]
#[check(loadBalancerClass, format = qualified_name, when(part(change), type = LoadBalancer))]
#[check(
    healthCheckNodePort,
    unchanged = "field is immutable",
    when(
        part(change),
        all(type = LoadBalancer, externalTrafficPolicy = Local),
        was(all(type = LoadBalancer, externalTrafficPolicy = Local))
    )
)]
#[check(
    ports,
    filled,
    when(not(type = ExternalName), not(all(single(clusterIPs), clusterIPs = None)))
)]
#[check(
    clusterIPs,
    at("clusterIPs[0]", invalid("None", "may not be set to 'None' for LoadBalancer services")),
    when(type = LoadBalancer, single(clusterIPs), clusterIPs = None)
)]
#[check(
    clusterIPs,
    at("clusterIPs[0]", invalid("None", "may not be set to 'None' for NodePort services")),
    when(type = NodePort, single(clusterIPs), clusterIPs = None)
)]
#[check(
    clusterIPs,
    forbidden = "may not be set for ExternalName services",
    when(type = ExternalName)
)]
#[check(
    ipFamilies,
    forbidden = "may not be set for ExternalName services",
    when(type = ExternalName)
)]
#[check(
    ipFamilyPolicy,
    forbidden = "may not be set for ExternalName services",
    when(type = ExternalName)
)]
#[check(externalName, format = rooted_dns1123_subdomain, when(type = ExternalName))]
#[check(ports, below)]
#[check(selector, labels)]
#[check(sessionAffinity, required, one_of(ClientIP, None))]
#[check(
    sessionAffinityConfig,
    forbidden = "must not be set when session affinity is None",
    when(sessionAffinity = None)
)]
#[check(
    sessionAffinityConfig,
    required = "when session affinity type is ClientIP",
    below,
    when(sessionAffinity = ClientIP)
)]
#[check(
    clusterIPs,
    invalid = "must be empty when `clusterIP` is not specified",
    when(part(default, addresses), not(type = ExternalName), unset(clusterIP), set(clusterIPs))
)]
#[check(
    clusterIPs,
    missing = "",
    when(part(default, addresses), not(type = ExternalName), set(clusterIP), unset(clusterIPs))
)]
#[check(
    clusterIPs,
    invalid = "first value must match `clusterIP`",
    when(
        part(default, addresses),
        not(type = ExternalName),
        set(clusterIP),
        set(clusterIPs),
        not(same(clusterIP, clusterIPs[0]))
    )
)]
#[check(
    ipFamilies,
    each(one_of(IPv4, IPv6), distinct),
    when(part(default, addresses), not(type = ExternalName))
)]
#[check(
    ipFamilyPolicy,
    one_of(PreferDualStack, RequireDualStack, SingleStack),
    when(part(default, addresses), not(type = ExternalName))
)]
#[check(
    self,
    by_hand = validate_cluster_addresses,
    when(part(default, addresses), not(type = ExternalName))
)]
#[check(
    externalIPs,
    each(field(self, ratchet, format = ip_address), valid, format = endpoint_ip),
    when(gate(StrictIPCIDRValidation))
)]
#[check(
    externalIPs,
    each(field(self, ratchet, format = lenient_ip_address), valid, format = endpoint_ip),
    when(not(gate(StrictIPCIDRValidation)))
)]
#[check(type, required, one_of(ClusterIP, ExternalName, LoadBalancer, NodePort))]
#[check(ports, below = without_node_ports, when(type = ClusterIP))]
#[check(self, by_hand = validate_unique_ports)]
#[check(
    allocateLoadBalancerNodePorts,
    forbidden = "may only be used when `type` is 'LoadBalancer'",
    when(part(after), not(type = LoadBalancer))
)]
#[check(
    allocateLoadBalancerNodePorts,
    at("/allocateLoadBalancerNodePorts", required),
    when(part(after), type = LoadBalancer)
)]
#[check(
    loadBalancerClass,
    forbidden = "may only be used when `type` is 'LoadBalancer'",
    when(part(after), not(type = LoadBalancer))
)]
#[check(loadBalancerClass, format = qualified_name, when(part(after), type = LoadBalancer))]
#[check(
    externalTrafficPolicy,
    required,
    one_of(Cluster, Local),
    when(
        part(after),
        any(type = (LoadBalancer, NodePort), all(type = ClusterIP, set(externalIPs)))
    )
)]
#[check(
    externalTrafficPolicy,
    optional,
    invalid = "may only be set for externally-accessible services",
    when(
        part(after),
        not(any(type = (LoadBalancer, NodePort), all(type = ClusterIP, set(externalIPs))))
    )
)]
#[check(
    healthCheckNodePort,
    missing = "",
    when(
        part(after),
        all(type = LoadBalancer, externalTrafficPolicy = Local),
        healthCheckNodePort = 0
    )
)]
#[check(
    healthCheckNodePort,
    port,
    when(
        part(after),
        all(type = LoadBalancer, externalTrafficPolicy = Local),
        not(healthCheckNodePort = 0)
    )
)]
#[check(
    healthCheckNodePort,
    invalid = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
    when(
        part(after),
        not(all(type = LoadBalancer, externalTrafficPolicy = Local)),
        not(healthCheckNodePort = 0)
    )
)]
#[check(
    internalTrafficPolicy,
    required,
    when(part(after), type = (ClusterIP, LoadBalancer, NodePort))
)]
#[check(internalTrafficPolicy, one_of(Cluster, Local), when(part(after)))]
#[check(
    trafficDistribution,
    one_of(PreferClose, PreferSameZone, PreferSameNode),
    when(part(after), gate(PreferSameTrafficDistribution))
)]
#[check(
    trafficDistribution,
    one_of(PreferClose),
    when(part(after), not(gate(PreferSameTrafficDistribution)))
)]
pub struct ServiceSpec {
    /// Ports offered by the Service.
    #[field(1, list = map(port, protocol), patch = merge, key = port)]
    pub ports: Vec<ServicePort>,

    /// Pod labels to route to; without it endpoints are managed by hand.
    #[field(2, map = atomic)]
    pub selector: Map<String, String>,

    /// Internal virtual IP; `None` makes the Service headless, blank allocates one.
    #[field(3)]
    pub cluster_ip: String,

    /// Virtual IPs, one per family; the first mirrors `clusterIP`.
    #[field(18, list = atomic)]
    pub cluster_ips: Vec<String>,

    /// Exposure level: `ClusterIP` (default), `NodePort`, `LoadBalancer` or `ExternalName`.
    #[field(4)]
    pub r#type: ServiceType,

    /// Additional addresses proxied to this Service; getting packets to a node is your job.
    #[field(5, list = atomic)]
    pub external_ips: Vec<String>,

    /// Set to `ClientIP` to keep clients on one backend; `None` is the default.
    #[field(7)]
    pub session_affinity: ServiceAffinity,

    /// Deprecated wish for a particular balancer address; provider support varies.
    #[field(8, deprecated)]
    pub load_balancer_ip: String,

    /// Client CIDRs let through the load balancer; empty allows everyone.
    #[field(9, list = atomic)]
    pub load_balancer_source_ranges: Vec<String>,

    /// DNS name returned as a CNAME when the type is `ExternalName`.
    #[field(10)]
    pub external_name: String,

    /// With `Local`, client IPs survive but only same-node backends serve; `Cluster` uses any.
    #[field(11)]
    pub external_traffic_policy: ServiceExternalTrafficPolicy,

    /// Node port for balancer health checks; only with `LoadBalancer` and `Local` traffic.
    #[field(12)]
    pub health_check_node_port: i32,

    /// Publishes backends even before they are ready, e.g. for StatefulSet peer discovery.
    #[field(13)]
    pub publish_not_ready_addresses: bool,

    /// Fine-tuning for sticky sessions, such as their timeout.
    #[field(14)]
    pub session_affinity_config: Option<SessionAffinityConfig>,

    /// Address families in order of preference, `IPv4` and/or `IPv6`.
    #[field(19, list = atomic)]
    pub ip_families: Vec<IPFamily>,

    /// Whether one or both address families are wanted; `SingleStack` by default.
    #[field(17)]
    pub ip_family_policy: Option<IPFamilyPolicy>,

    /// False skips node ports for balancers that route straight to pods; default true.
    #[field(20)]
    pub allocate_load_balancer_node_ports: Option<bool>,

    /// Balancer implementation to use, e.g. `example.com/internal`; fixed once set.
    #[field(21)]
    pub load_balancer_class: Option<String>,

    /// Use `Local` to keep in-cluster traffic on the same node; `Cluster` is the default.
    #[field(22)]
    pub internal_traffic_policy: Option<ServiceInternalTrafficPolicy>,

    /// Routing preference for near endpoints, such as `PreferSameZone` or `PreferSameNode`.
    #[field(23)]
    pub traffic_distribution: Option<String>,
}

/// One port a Service listens on and where it forwards to.
#[check(name, filled, when(several))]
#[check(name, optional, name = dns1123_label, distinct)]
#[check(port, port)]
#[check(protocol, required, one_of(SCTP, TCP, UDP))]
#[check(targetPort, port)]
#[check(appProtocol, format = qualified_name)]
#[check(
    nodePort,
    forbidden = "may not be used when `type` is 'ClusterIP'",
    when(part(without_node_ports), not(nodePort = 0))
)]
pub struct ServicePort {
    /// DNS label for the port; compulsory once a Service has several.
    #[field(1)]
    pub name: String,

    /// Transport, which is `TCP` unless `UDP` or `SCTP` is chosen.
    #[field(2, default = TCP)]
    pub protocol: Protocol,

    /// Application protocol hint for proxies, e.g. `http` or `kubernetes.io/ws`.
    #[field(6)]
    pub app_protocol: Option<String>,

    /// Port number clients use on the Service address.
    #[field(3, required)]
    pub port: i32,

    /// Pod port, by number or name, that receives traffic; same as `port` if unset.
    #[field(4, always)]
    pub target_port: IntOrString,

    /// Port opened on all nodes, from 30000-32767 by default; auto-assigned if blank.
    #[field(5)]
    pub node_port: i32,
}

/// Selects how a Service is exposed: inside the cluster, on nodes, externally, or as DNS alias.
pub enum ServiceType {
    ClusterIP,
    NodePort,
    LoadBalancer,
    ExternalName,
}

/// Stickiness of client connections to a backend.
pub enum ServiceAffinity {
    ClientIP,
    None,
}

/// How traffic from outside the cluster picks backends.
pub enum ServiceExternalTrafficPolicy {
    Cluster,
    Local,
}

/// Container for options about sticky sessions.
#[check(clientIP, required = "when session affinity type is ClientIP", below)]
pub struct SessionAffinityConfig {
    /// Options used when stickiness is based on the client's IP.
    #[field(1)]
    pub client_ip: Option<ClientIPConfig>,
}

/// Settings for session affinity by client address.
#[check(
    timeoutSeconds,
    required = "when session affinity type is ClientIP",
    range(1, 86400, "must be greater than 0 and less than 86400")
)]
pub struct ClientIPConfig {
    /// Seconds a client sticks to one pod, 1 to 86400; default 10800.
    #[field(1)]
    pub timeout_seconds: Option<i32>,
}

/// IP version, `IPv4` or `IPv6`.
pub enum IPFamily {
    IPv4,
    IPv6,
    #[value("")]
    Unknown,
}

/// Whether a Service uses one IP family or two, and how strictly.
pub enum IPFamilyPolicy {
    SingleStack,
    PreferDualStack,
    RequireDualStack,
}

/// How traffic from inside the cluster picks backends.
pub enum ServiceInternalTrafficPolicy {
    Cluster,
    Local,
}

/// Observed exposure of a Service.
pub struct ServiceStatus {
    /// Addresses handed out by the load balancer, if there is one.
    #[field(1)]
    pub load_balancer: LoadBalancerStatus,

    /// Current state reports from controllers handling the Service.
    #[field(2, list = map(type), patch = merge)]
    pub conditions: Vec<Condition>,
}

/// Load balancer that the cloud or a controller provisioned for external traffic.
pub struct LoadBalancerStatus {
    /// Entry points where clients can reach the Service.
    #[field(1, list = atomic)]
    pub ingress: Vec<LoadBalancerIngress>,
}

/// One entry point through which a load balancer accepts traffic.
#[check(ip, optional, ratchet, format = ip_address, when(gate(StrictIPCIDRValidation)))]
#[check(ip, optional, ratchet, format = lenient_ip_address, when(not(gate(StrictIPCIDRValidation))))]
#[check(ipMode, missing = "must be specified when `ip` is set", when(set(ip), unset(ipMode)))]
#[check(ipMode, forbidden = "may not be specified when `ip` is not set", when(unset(ip)))]
#[check(ipMode, one_of(Proxy, VIP), when(set(ip)))]
#[check(hostname, optional, format = host_name)]
pub struct LoadBalancerIngress {
    /// Address of the load balancer, for providers that hand out IPs.
    #[field(1)]
    pub ip: String,

    /// DNS name of the load balancer, for providers like AWS.
    #[field(2)]
    pub hostname: String,

    /// With `VIP` nodes may short-circuit the IP; `Proxy` sends traffic through the balancer.
    #[field(3)]
    pub ip_mode: Option<LoadBalancerIPMode>,

    /// Per-port results, including errors, from provisioning the load balancer.
    #[field(4, list = atomic)]
    pub ports: Vec<PortStatus>,
}

/// Whether balancer traffic arrives with the balancer's IP intact (`VIP`) or proxied.
#[open]
pub enum LoadBalancerIPMode {
    VIP,
    Proxy,
}

/// Load balancer provisioning result for one Service port.
pub struct PortStatus {
    /// Service port this result belongs to.
    #[field(1, required)]
    pub port: i32,

    /// Transport of that Service port.
    #[field(2, required)]
    pub protocol: Protocol,

    /// Why provisioning failed, as a CamelCase or domain-prefixed token.
    #[field(3)]
    pub error: Option<String>,
}
