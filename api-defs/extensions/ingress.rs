use crate::core::{Protocol, TypedLocalObjectReference};
use crate::meta::ObjectMeta;

/// Retired beta API for routing external HTTP traffic; replaced by `networking.k8s.io/v1`.
#[kind(stored_as = networking::v1::Ingress, list)]
#[versions(v1beta1(
    introduced = "1.1",
    deprecated = "1.14",
    removed = "1.22",
    replacement = "networking.k8s.io/v1 Ingress"
))]
pub struct Ingress {
    /// Object name and annotations, where controllers of this era read most of their options.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Hosts, paths, TLS secrets and default backend to be served.
    #[field(2)]
    pub spec: IngressSpec,

    /// Load balancer addresses published by the ingress controller.
    #[field(3)]
    pub status: IngressStatus,
}

/// User-defined routing for a legacy Ingress.
pub struct IngressSpec {
    /// Name of the IngressClass whose controller should serve this object.
    #[field(4)]
    pub ingress_class_name: Option<String>,

    /// Catch-all destination for requests that no rule matched.
    #[field(1, renamed = default_backend)]
    pub backend: Option<IngressBackend>,

    /// Certificates to present, selected by SNI host name on port 443.
    #[field(2, list = atomic)]
    pub tls: Vec<IngressTLS>,

    /// Host-based routing entries; without any, everything goes to the catch-all backend.
    #[field(3, list = atomic)]
    pub rules: Vec<IngressRule>,
}

/// Service port or custom resource that receives matched traffic.
pub struct IngressBackend {
    /// Target Service, located in the same namespace as the Ingress.
    #[field(1)]
    pub service_name: String,

    /// Port on the target Service, as number or name.
    #[field(2, always)]
    pub service_port: IntOrString,

    /// Alternative to a Service: reference to another same-namespace object, exclusive with `serviceName`.
    #[field(3)]
    pub resource: Option<TypedLocalObjectReference>,
}

#[convert(IngressBackend, by_hand = ingress_backend, here(serviceName, servicePort), hub(service))]
struct FlatService;

/// Pairs host names with the Secret holding their certificate.
pub struct IngressTLS {
    /// Host names the certificate covers; they should match those used in rules.
    #[field(1, list = atomic)]
    pub hosts: Vec<String>,

    /// Secret of type `kubernetes.io/tls` containing `tls.crt` and `tls.key`.
    #[field(2)]
    pub secret_name: String,
}

/// Routing for one host name in the retired beta Ingress.
pub struct IngressRule {
    /// Fully qualified host to match, wildcards like `*.foo.com` included; empty matches every host.
    #[field(1)]
    pub host: String,

    /// Protocol-specific routing inlined into the rule; only `http` exists.
    #[field(2, inline)]
    pub ingress_rule_value: IngressRuleValue,
}

/// Holder for a rule's routing table, currently limited to HTTP.
pub struct IngressRuleValue {
    /// Path mappings applied to HTTP requests for the rule's host.
    #[field(1)]
    pub http: Option<HTTPIngressRuleValue>,
}

/// HTTP routing table for a single host.
pub struct HTTPIngressRuleValue {
    /// Path-to-backend mappings evaluated for the host.
    #[field(1, required, list = atomic)]
    pub paths: Vec<HTTPIngressPath>,
}

/// Maps one URL path to a backend in the retired beta Ingress.
pub struct HTTPIngressPath {
    /// URL path to match, starting with `/`; how it matches depends on `pathType`.
    #[field(1)]
    pub path: String,

    /// Matching mode; falls back to `ImplementationSpecific` in this version.
    #[field(3, default_hidden = ImplementationSpecific)]
    pub path_type: Option<PathType>,

    /// Destination for requests whose path matches.
    #[field(2, required)]
    pub backend: IngressBackend,
}

/// How URL paths compare: whole path, element-wise prefix, or controller-defined.
#[open]
pub enum PathType {
    Exact,
    Prefix,
    ImplementationSpecific,
}

/// Observed state written back by the ingress controller.
pub struct IngressStatus {
    /// Where the Ingress is reachable from outside.
    #[field(1)]
    pub load_balancer: IngressLoadBalancerStatus,
}

/// Collection of entry points assigned to an Ingress.
pub struct IngressLoadBalancerStatus {
    /// Addresses clients can connect to; empty until the controller provisions something.
    #[field(1, list = atomic)]
    pub ingress: Vec<IngressLoadBalancerIngress>,
}

/// One external entry point through which the Ingress can be reached.
pub struct IngressLoadBalancerIngress {
    /// Public or private IP of the entry point, for IP-based balancers.
    #[field(1)]
    pub ip: String,

    /// DNS name of the entry point, common on AWS.
    #[field(2)]
    pub hostname: String,

    /// Per-port health or errors reported by the load balancer.
    #[field(4, list = atomic)]
    pub ports: Vec<IngressPortStatus>,
}

/// State of a single load balancer port serving an Ingress.
pub struct IngressPortStatus {
    /// Port number exposed by the load balancer.
    #[field(1, required)]
    pub port: i32,

    /// Transport of this port: `TCP`, `UDP` or `SCTP`.
    #[field(2, required)]
    pub protocol: Protocol,

    /// Failure code when the port could not be set up; absent when healthy.
    #[field(3)]
    pub error: Option<String>,
}
