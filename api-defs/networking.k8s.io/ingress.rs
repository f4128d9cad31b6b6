use crate::core::{Protocol, TypedLocalObjectReference};
use crate::meta::ObjectMeta;

/// Routes external HTTP and HTTPS traffic to Services by host and path.
#[kind(plural = "ingresses", short = "ing", scope = Namespaced, prefix = "ingress", metadata = both)]
#[versions(
    v1(introduced = "1.19"),
    v1beta1(unserved, introduced = "1.14", deprecated = "1.19", replacement = "networking.k8s.io/v1 Ingress")
)]
#[subresource(status, resets(spec))]
#[column("Class", spec.ingressClassName or "<none>")]
#[column("Hosts", by_hand = ingress_hosts, reads(spec.rules.host), "Host names that the rules are about; `*` for all.")]
#[column("Address", by_hand = ingress_address, reads(status.loadBalancer), "Addresses of the load balancer in front.")]
#[column("Ports", by_hand = ingress_ports, reads(spec.tls), "Ports that are listened at: 80, and 443 where there is TLS.")]
#[column("Age", age)]
#[check(self, choose(any_secret_name, was(not(holds(spec.tls, below = secret)))))]
#[check(self, by_hand = choose_options, when(not(subresource = status)))]
#[check(spec, below, when(not(subresource = status)))]
#[check(
    metadata.annotations["kubernetes.io/ingress.class"],
    at("/annotations.kubernetes.io/ingress.class", invalid = "must match `ingressClassName` when both are specified"),
    when(
        create,
        set(metadata.annotations["kubernetes.io/ingress.class"]),
        set(spec.ingressClassName),
        not(same(metadata.annotations["kubernetes.io/ingress.class"], spec.ingressClassName))
    )
)]
#[check(status.loadBalancer.ingress, below, when(subresource = status))]
#[strategy(warnings = warn_ingress)]
pub struct Ingress {
    /// Name, labels and annotations; controllers often take extra options from annotations.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Host rules, TLS settings and the default destination.
    #[field(2)]
    pub spec: IngressSpec,

    /// External addresses that the ingress controller has published.
    #[field(3)]
    pub status: IngressStatus,
}

/// Desired routing of an Ingress: class, rules, certificates and fallback.
#[check(self, by_hand = validate_presence)]
#[check(defaultBackend, below)]
#[check(rules, below)]
#[check(tls, below)]
#[check(ingressClassName, name = dns1123_subdomain)]
pub struct IngressSpec {
    /// IngressClass that should act on this object; the default class fills in if unset.
    #[field(4)]
    pub ingress_class_name: Option<String>,

    /// Fallback for unmatched requests; compulsory when no rules exist.
    #[field(1)]
    pub default_backend: Option<IngressBackend>,

    /// Certificates to terminate HTTPS with, chosen through SNI.
    #[field(2, list = atomic)]
    pub tls: Vec<IngressTLS>,

    /// Host-based routing table; unmatched traffic goes to the fallback backend.
    #[field(3, list = atomic)]
    pub rules: Vec<IngressRule>,
}

/// Destination of Ingress traffic: a Service port or a custom resource.
#[check(self, invalid("", "cannot set both resource and service backends"), when(set(resource), set(service)))]
#[check(resource.apiGroup, format = dns1123_subdomain, when(unset(service)))]
#[check(resource.kind, required, name = path_segment, when(unset(service)))]
#[check(resource.name, required, name = path_segment, when(unset(service)))]
#[check(service, below, when(unset(resource)))]
#[check(self, invalid("", "resource or service backend is required"), when(none(resource, service)))]
pub struct IngressBackend {
    /// Service and port to send traffic to; exclusive with `resource`.
    #[field(4)]
    pub service: Option<IngressServiceBackend>,

    /// Same-namespace object, such as a storage bucket, instead of a Service.
    #[field(3)]
    pub resource: Option<TypedLocalObjectReference>,
}

/// Service and port combination that receives Ingress traffic.
#[check(name, filled)]
#[check(name, optional, name = dns1123_label, when(option(relaxed_service_names)))]
#[check(name, optional, name = dns1035_label, when(not(option(relaxed_service_names))))]
#[check(
    port,
    at("..", missing = "port name or number is required"),
    when(unset(port.name), port.number = 0)
)]
#[check(port.number, port, when(unset(port.name), not(port.number = 0)))]
#[check(port.name, format = port_name, when(set(port.name), port.number = 0))]
#[check(
    port,
    at("..", invalid("", "cannot set both port name & port number")),
    when(set(port.name), not(port.number = 0))
)]
pub struct IngressServiceBackend {
    /// Service to use, from the namespace of the Ingress.
    #[field(1, required)]
    pub name: String,

    /// Which Service port to use, by name or number; required.
    #[field(2)]
    pub port: ServiceBackendPort,
}

/// Chooses a Service port by exactly one of name or number.
#[structure(atomic)]
pub struct ServiceBackendPort {
    /// Port name as declared in the Service; exclusive with `number`.
    #[field(1)]
    pub name: String,

    /// Port number as declared in the Service, from 1 to 65535.
    #[field(2)]
    pub number: i32,
}

/// Certificate Secret and the hosts it applies to.
#[check(hosts, each(format = host_or_wildcard))]
#[check(
    secretName,
    optional,
    name = dns1123_subdomain,
    when(part(default, secret), not(option(any_secret_name)))
)]
pub struct IngressTLS {
    /// DNS names listed in the certificate; unset applies it to every host.
    #[field(1, list = atomic)]
    pub hosts: Vec<String>,

    /// TLS Secret in the same namespace; may be omitted for SNI-only passthrough.
    #[field(2)]
    pub secret_name: String,
}

/// Groups path routing under one host name.
#[check(host, optional, format = no_ip_address, format = host_or_wildcard)]
#[check(self, by_hand = validate_rule)]
pub struct IngressRule {
    /// DNS name to match, optionally with a leading `*.` label; empty catches all hosts.
    #[field(1)]
    pub host: String,

    /// Inlined routing for the host; `http` is the sole variant.
    #[field(2, inline)]
    pub ingress_rule_value: IngressRuleValue,
}

/// Wrapper for a rule's protocol-specific routing.
pub struct IngressRuleValue {
    /// Paths and backends for HTTP requests to this host.
    #[field(1)]
    pub http: Option<HTTPIngressRuleValue>,
}

/// HTTP path table belonging to one Ingress host.
#[check(paths, filled, below)]
pub struct HTTPIngressRuleValue {
    /// Path mappings for the host; longest match wins, exact beats prefix.
    #[field(1, required, list = atomic)]
    pub paths: Vec<HTTPIngressPath>,
}

/// Maps one URL path to the backend that should serve it.
#[check(pathType, missing = "pathType must be specified", when(unset(pathType)))]
#[check(path, format = absolute_path, format = literal_path, when(pathType = (Exact, Prefix)))]
#[check(path, optional, format = absolute_path, when(pathType = ImplementationSpecific))]
#[check(pathType, one_of(Exact, ImplementationSpecific, Prefix))]
#[check(backend, below, when(set(pathType)))]
pub struct HTTPIngressPath {
    /// URL path beginning with `/`; mandatory for `Exact` and `Prefix` matching.
    #[field(1)]
    pub path: String,

    /// Matching mode, mandatory in v1: whole path, path-element prefix, or controller-specific.
    #[field(3, required)]
    pub path_type: Option<PathType>,

    /// Service or resource that answers requests on this path.
    #[field(2, required)]
    pub backend: IngressBackend,
}

/// Ways an Ingress path may be compared with the request URL.
pub enum PathType {
    Exact,
    Prefix,
    ImplementationSpecific,
}

/// State that the controller reports back on an Ingress.
pub struct IngressStatus {
    /// Load balancer addresses currently serving the Ingress.
    #[field(1)]
    pub load_balancer: IngressLoadBalancerStatus,
}

/// Addresses allotted to an Ingress by its load balancer.
pub struct IngressLoadBalancerStatus {
    /// External addresses, shown in the ADDRESS column of `kubectl get ingress`.
    #[field(1, list = atomic)]
    pub ingress: Vec<IngressLoadBalancerIngress>,
}

/// One address through which an Ingress accepts traffic.
#[check(ip, optional, ratchet, format = ip_address, when(gate(StrictIPCIDRValidation)))]
#[check(ip, optional, ratchet, format = lenient_ip_address, when(not(gate(StrictIPCIDRValidation))))]
#[check(hostname, optional, format = host_name)]
pub struct IngressLoadBalancerIngress {
    /// IP of the entry point when the balancer is IP-based.
    #[field(1)]
    pub ip: String,

    /// DNS name of the entry point when the balancer is name-based.
    #[field(2)]
    pub hostname: String,

    /// Port states the balancer reports for this address.
    #[field(4, list = atomic)]
    pub ports: Vec<IngressPortStatus>,
}

/// Health report for a port exposed by an Ingress load balancer.
pub struct IngressPortStatus {
    /// Port number that clients connect to.
    #[field(1, required)]
    pub port: i32,

    /// Transport the port uses, namely `TCP`, `UDP` or `SCTP`.
    #[field(2, required)]
    pub protocol: Protocol,

    /// CamelCase failure code; vendor-specific codes carry a domain prefix.
    #[field(3)]
    pub error: Option<String>,
}

mod v1beta1 {
    #[differs(IngressSpec)]
    struct IngressSpec {
        /// Beta-era name for the fallback destination, now `defaultBackend`.
        #[field(1, renamed = default_backend)]
        backend: Option<IngressBackend>,
    }

    #[differs(IngressBackend)]
    struct IngressBackend {
        #[gone]
        service: (),

        /// Beta-only field naming the target Service; v1 uses `service.name`.
        #[field(1)]
        service_name: String,

        /// Beta-only field giving the target port by number or name.
        #[field(2, always)]
        service_port: IntOrString,
    }

    #[convert(IngressBackend, by_hand = v1beta1_ingress_backend, here(serviceName, servicePort), hub(service))]
    struct FlatService;

    #[differs(HTTPIngressPath)]
    struct HTTPIngressPath {
        /// Matching mode, mandatory in v1: whole path, path-element prefix, or controller-specific.
        #[field(3, default_hidden = ImplementationSpecific)]
        path_type: Option<PathType>,
    }
}
