use crate::meta::ObjectMeta;

/// Routes one API group version to an aggregated server or to the built-in one.
#[kind(
    plural = "apiservices",
    category = "api-extensions",
    scope = Cluster,
    prefix = "apiregistration.k8s.io/apiservices",
    stored = json,
    unconditional_update = false,
    generation = false,
    name = any,
    metadata = change
)]
#[versions(
    v1(introduced = "1.10"),
    v1beta1(
        introduced = "1.7",
        deprecated = "1.19",
        removed = "1.22",
        replacement = "apiregistration.k8s.io/v1 APIService"
    )
)]
#[subresource(
    status,
    resets(spec, metadata.labels, metadata.annotations, metadata.finalizers, metadata.ownerReferences),
    without_tables
)]
#[column("Service", by_hand = api_service_service, reads(spec.service), "The service that serves the group version, or Local.")]
#[column("Available", by_hand = api_service_available, reads(status.conditions), "Whether the group version is served, and why not.")]
#[column("Age", age)]
#[strategy(create = create_api_service)]
#[check(status.conditions, below, when(subresource = status))]
#[check(self, by_hand = validate_api_service_name, when(not(subresource = status)))]
#[check(spec, below, when(not(subresource = status)))]
pub struct APIService {
    /// APIService identity; the name has to be `<version>.<group>`.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Group version to claim and the server that handles it.
    #[field(2)]
    pub spec: APIServiceSpec,

    /// Availability of the backing API server.
    #[field(3)]
    pub status: APIServiceStatus,
}

/// Where requests for a group version go, and how they are prioritized.
#[check(
    group,
    missing = "only v1 may have an empty group and it better be legacy kube",
    when(unset(group), not(version = v1))
)]
#[check(group, optional, format = dns1123_subdomain)]
#[check(version, format = dns1035_label)]
#[check(
    groupPriorityMinimum,
    min(1, "must be positive and less than 20000"),
    max(20000, "must be positive and less than 20000")
)]
#[check(
    versionPriority,
    min(1, "must be positive and less than 1000"),
    max(1000, "must be positive and less than 1000")
)]
#[check(self, by_hand = validate_local_bundle, when(unset(service)))]
#[check(
    insecureSkipTLSVerify,
    invalid = "local APIServices may not have insecureSkipTLSVerify",
    when(unset(service), insecureSkipTLSVerify = true)
)]
#[check(service, below)]
#[check(
    insecureSkipTLSVerify,
    invalid = "may not be true if caBundle is present",
    when(set(service), insecureSkipTLSVerify = true, set(caBundle))
)]
pub struct APIServiceSpec {
    /// Service of the extension API server; unset means it is served locally.
    #[field(1)]
    pub service: Option<ServiceReference>,

    /// API group being claimed, e.g. `metrics.k8s.io`.
    #[field(2)]
    pub group: String,

    /// API version being claimed, e.g. `v1beta1`.
    #[field(3)]
    pub version: String,

    /// Turns off certificate checks for the backend; strongly discouraged.
    #[field(4)]
    pub insecure_skip_tls_verify: bool,

    /// PEM certificates trusted when verifying the extension server's TLS.
    #[allow(L020)]
    #[field(5, list = atomic)]
    pub ca_bundle: Bytes,

    /// Group ordering in discovery, 1 to 20000; higher values come first.
    #[field(7, required)]
    pub group_priority_minimum: i32,

    /// Ordering of this version within its group, 1 to 1000; larger is preferred.
    #[field(8, required)]
    pub version_priority: i32,
}

/// Points at the Service behind an aggregated API.
#[check(namespace, filled)]
#[check(name, filled)]
#[check(port, range(1, 65535, "port is not valid: must be between 1 and 65535, inclusive"))]
pub struct ServiceReference {
    /// Namespace of the extension API server's Service.
    #[field(1)]
    pub namespace: String,

    /// Name of the extension API server's Service.
    #[field(2)]
    pub name: String,

    /// Service port for proxied traffic, 1 to 65535; 443 by default.
    #[field(3, default_hidden = 443)]
    pub port: Option<i32>,
}

/// Current state of an APIService as observed by the aggregator.
pub struct APIServiceStatus {
    /// Latest checks of the APIService, chiefly the `Available` condition.
    #[field(1, list = map(type), patch = merge)]
    pub conditions: Vec<APIServiceCondition>,
}

/// One observed aspect of an APIService, normally its availability.
#[check(status, one_of(True, False, Unknown))]
pub struct APIServiceCondition {
    /// Aspect being reported; only `Available` is defined.
    #[field(1, required)]
    pub r#type: APIServiceConditionType,

    /// Whether the aggregated API is usable: `True`, `False` or `Unknown`.
    #[field(2, required)]
    pub status: ConditionStatus,

    /// Moment when availability last changed.
    #[field(3, always)]
    pub last_transition_time: Time,

    /// CamelCase code such as `MissingEndpoints` or `FailedDiscoveryCheck`.
    #[field(4)]
    pub reason: String,

    /// Longer explanation of the availability result, for troubleshooting.
    #[field(5)]
    pub message: String,
}

/// Aspects reported for an APIService; at present just `Available`.
#[open]
pub enum APIServiceConditionType {
    Available,
}

/// Three-valued state used in APIService conditions.
#[open]
pub enum ConditionStatus {
    True,
    False,
    Unknown,
}
