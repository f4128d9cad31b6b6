use crate::meta::ObjectMeta;

/// Smallest deployable unit: containers sharing network and volumes on one node.
#[kind(plural = "pods", short = "po", category = "all", scope = Namespaced, delete_returns_object, graceful, metadata = both)]
#[direct]
#[versions(v1(introduced = "1.0"))]
#[subresource(attach, kind = core::v1::PodAttachOptions, verbs(create, get))]
#[subresource(binding, kind = core::v1::Binding, verbs(create))]
#[subresource(ephemeralcontainers, verbs(get, patch, update), without_tables)]
#[subresource(eviction, kind = policy::v1::Eviction, verbs(create))]
#[subresource(exec, kind = core::v1::PodExecOptions, verbs(create, get))]
#[subresource(log, verbs(get))]
#[subresource(portforward, kind = core::v1::PodPortForwardOptions, verbs(create, get))]
#[subresource(proxy, kind = core::v1::PodProxyOptions, verbs(create, delete, get, patch, update))]
#[subresource(resize, verbs(get, patch, update), without_tables)]
#[subresource(status, resets(spec, metadata.deletionTimestamp, metadata.ownerReferences))]
#[column("Ready", by_hand = pod_ready, reads(spec.containers.name, spec.initContainers.name, spec.initContainers.restartPolicy, status), "Ready containers of all that run beside one another.")]
#[column("Status", by_hand = pod_status, reads(metadata.deletionTimestamp, spec.initContainers.name, spec.initContainers.restartPolicy, status), "The phase of the pod, or what holds it or its containers up.")]
#[column("Restarts", by_hand = pod_restarts, reads(spec.initContainers.name, spec.initContainers.restartPolicy, status), "How often its containers were restarted, and how long ago the last time.")]
#[column("Age", age)]
#[column("IP", status.podIP or "<none>", priority = 1)]
#[column("Node", spec.nodeName or "<none>", priority = 1)]
#[column("Nominated Node", status.nominatedNodeName or "<none>", priority = 1)]
#[column("Readiness Gates", by_hand = pod_readiness_gates, reads(spec.readinessGates, status.conditions), priority = 1, "Conditions of others that hold, of those that it is to wait for.")]
#[selectable(spec.hostNetwork)]
#[selectable(spec.nodeName, alias = "spec.host")]
#[selectable(spec.restartPolicy)]
#[selectable(spec.schedulerName)]
#[selectable(spec.serviceAccountName)]
#[selectable(status.nominatedNodeName)]
#[selectable(status.phase)]
#[selectable(status.podIP)]
#[selectable("status.podIPs", by_hand = pod_ips_label, reads(status.podIPs))]
#[default(spec.enableServiceLinks = true)]
#[default(by_hand = default_pod)]
#[normalize(by_hand = normalize_pod)]
#[validate(by_hand = validate_pod)]
#[strategy(create = create_pod, update = update_pod, warnings = warn_pod, grace = grace_of_pod, rows = pod_row_conditions)]
pub struct Pod {
    /// Pod name, namespace, labels used by selectors, annotations and owners.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Containers, volumes and scheduling settings; largely immutable once created.
    #[field(2)]
    pub spec: PodSpec,

    /// Latest known phase, IPs and container states; may lag behind reality.
    #[field(3)]
    pub status: PodStatus,
}

/// Complete recipe for a pod: containers, volumes, security and placement.
#[default(dnsPolicy = ClusterFirst)]
#[default(restartPolicy = Always)]
#[default(securityContext = {})]
#[default(terminationGracePeriodSeconds = 30)]
#[default(schedulerName = "default-scheduler")]
#[default(by_hand = default_pod_spec)]
#[normalize(by_hand = normalize_pod_spec)]
#[check(terminationGracePeriodSeconds, required)]
#[check(self, by_hand = validate_ports_of_host, when(hostNetwork = true, part(rest)))]
#[check(restartPolicy, required, one_of(Always, OnFailure, Never), when(part(rest)))]
#[check(
    dnsPolicy,
    required,
    one_of(ClusterFirstWithHostNet, ClusterFirst, Default, None),
    when(part(rest))
)]
#[check(nodeSelector, labels, when(part(rest)))]
#[check(securityContext, below = ids, when(part(rest)))]
#[check(
    shareProcessNamespace,
    at(
        "securityContext.shareProcessNamespace",
        invalid = "ShareProcessNamespace and HostPID cannot both be enabled"
    ),
    when(part(rest), set(securityContext), shareProcessNamespace = true, hostPID = true)
)]
#[check(self, by_hand = validate_sysctls_of_pod, when(part(rest), set(securityContext)))]
#[check(securityContext, below, when(part(rest)))]
#[check(affinity, below, when(part(rest)))]
#[check(
    dnsConfig,
    missing = "must provide `dnsConfig` when `dnsPolicy` is None",
    when(part(rest), dnsPolicy = None, unset(dnsConfig))
)]
#[check(
    dnsConfig.nameservers,
    missing = "must provide at least one DNS nameserver when `dnsPolicy` is None",
    when(part(rest), dnsPolicy = None, unset(dnsConfig.nameservers))
)]
#[check(
    dnsConfig,
    below,
    when(part(rest), any(not(dnsPolicy = None), set(dnsConfig.nameservers)))
)]
#[check(readinessGates, below, when(part(rest)))]
#[check(schedulingGates, below, when(part(rest)))]
#[check(self, by_hand = validate_spread_constraints, when(part(rest)))]
#[check(self, by_hand = validate_host_processes, when(part(rest)))]
#[check(
    hostNetwork,
    forbidden = "when `hostUsers` is false",
    when(
        part(rest),
        hostUsers = false,
        hostNetwork = true,
        not(option(user_namespaces_in_host_network))
    )
)]
#[check(
    hostPID,
    at("HostPID", forbidden = "when `hostUsers` is false"),
    when(part(rest), hostUsers = false, hostPID = true)
)]
#[check(
    hostIPC,
    at("HostIPC", forbidden = "when `hostUsers` is false"),
    when(part(rest), hostUsers = false, hostIPC = true)
)]
#[check(
    initContainers,
    each(field(volumeDevices, forbidden = "when `hostUsers` is false")),
    when(part(rest), hostUsers = false, not(option(user_namespaces_with_devices)))
)]
#[check(
    containers,
    each(field(volumeDevices, forbidden = "when `hostUsers` is false")),
    when(part(rest), hostUsers = false, not(option(user_namespaces_with_devices)))
)]
#[check(
    ephemeralContainers,
    each(field(volumeDevices, forbidden = "when `hostUsers` is false")),
    when(part(rest), hostUsers = false, not(option(user_namespaces_with_devices)))
)]
#[check(
    hostnameOverride,
    forbidden = "may not be specified when setHostnameAsFQDN is true",
    when(part(rest), set(hostnameOverride), setHostnameAsFQDN = true)
)]
#[check(
    hostnameOverride,
    forbidden = "may not be specified when hostNetwork is true",
    when(part(rest), set(hostnameOverride), hostNetwork = true)
)]
#[check(hostnameOverride, max_bytes = 64, name = dns1123_subdomain, when(part(rest)))]
#[check(serviceAccountName, optional, name = dns1123_subdomain, when(part(rest)))]
#[check(nodeName, optional, name = dns1123_subdomain, when(part(rest)))]
#[check(activeDeadlineSeconds, range(1, 2147483647), when(part(rest)))]
#[check(hostname, optional, name = dns1123_label, when(part(rest)))]
#[check(subdomain, optional, name = dns1123_label, when(part(rest)))]
#[check(tolerations, below, when(part(rest)))]
#[check(hostAliases, below, when(part(rest)))]
#[check(priorityClassName, optional, name = dns1123_subdomain, when(part(rest)))]
#[check(runtimeClassName, name = dns1123_subdomain, when(part(rest)))]
#[check(
    preemptionPolicy,
    missing = "",
    when(part(rest), set(preemptionPolicy), preemptionPolicy = "")
)]
#[check(
    preemptionPolicy,
    one_of(PreemptLowerPriority, Never),
    when(part(rest), not(preemptionPolicy = ""))
)]
#[check(self, by_hand = validate_overhead, when(part(rest)))]
#[check(os.name, required, when(part(rest)))]
#[check(
    securityContext.windowsOptions,
    forbidden = "windows options cannot be set for a linux pod",
    when(part(rest), os.name = linux)
)]
#[check(
    initContainers,
    each(
        field(
            securityContext.windowsOptions,
            forbidden = "windows options cannot be set for a linux pod"
        )
    ),
    when(part(rest), os.name = linux)
)]
#[check(
    containers,
    each(
        field(
            securityContext.windowsOptions,
            forbidden = "windows options cannot be set for a linux pod"
        )
    ),
    when(part(rest), os.name = linux)
)]
#[check(
    ephemeralContainers,
    each(
        field(
            securityContext.windowsOptions,
            forbidden = "windows options cannot be set for a linux pod"
        )
    ),
    when(part(rest), os.name = linux)
)]
#[check(
    securityContext.appArmorProfile,
    forbidden = "cannot be set for a windows pod",
    when(part(rest), os.name = windows)
)]
#[check(
    securityContext.seLinuxOptions,
    forbidden = "cannot be set for a windows pod",
    when(part(rest), os.name = windows)
)]
#[check(
    hostUsers,
    forbidden = "cannot be set for a windows pod",
    when(part(rest), os.name = windows)
)]
#[check(
    hostPID,
    forbidden = "cannot be set for a windows pod",
    when(part(rest), os.name = windows, hostPID = true)
)]
#[check(
    hostIPC,
    forbidden = "cannot be set for a windows pod",
    when(part(rest), os.name = windows, hostIPC = true)
)]
#[check(
    securityContext.seccompProfile,
    forbidden = "cannot be set for a windows pod",
    when(part(rest), os.name = windows)
)]
#[check(
    securityContext.fsGroup,
    forbidden = "cannot be set for a windows pod",
    when(part(rest), os.name = windows)
)]
#[check(
    securityContext.fsGroupChangePolicy,
    forbidden = "cannot be set for a windows pod",
    when(part(rest), os.name = windows)
)]
#[check(
    securityContext.sysctls,
    forbidden = "cannot be set for a windows pod",
    when(part(rest), os.name = windows)
)]
#[check(
    shareProcessNamespace,
    forbidden = "cannot be set for a windows pod",
    when(part(rest), os.name = windows)
)]
#[check(
    securityContext.runAsUser,
    forbidden = "cannot be set for a windows pod",
    when(part(rest), os.name = windows)
)]
#[check(
    securityContext.runAsGroup,
    forbidden = "cannot be set for a windows pod",
    when(part(rest), os.name = windows)
)]
#[check(
    securityContext.supplementalGroups,
    forbidden = "cannot be set for a windows pod",
    when(part(rest), os.name = windows)
)]
#[check(
    securityContext.supplementalGroupsPolicy,
    forbidden = "cannot be set for a windows pod",
    when(part(rest), os.name = windows)
)]
#[check(
    securityContext.seLinuxChangePolicy,
    forbidden = "cannot be set for a windows pod",
    when(part(rest), os.name = windows)
)]
#[check(initContainers, each(field(securityContext, below = windows)), when(part(rest), os.name = windows))]
#[check(containers, each(field(securityContext, below = windows)), when(part(rest), os.name = windows))]
#[check(ephemeralContainers, each(field(securityContext, below = windows)), when(part(rest), os.name = windows))]
#[check(os.name, at(".", optional, one_of(linux, windows)), when(part(rest)))]
#[check(schedulingGroup, below, when(part(rest)))]
#[check(self, by_hand = validate_files_of_variables, when(part(rest)))]
#[check(resourceClaims, below, when(part(claims)))]
#[check(
    volumes,
    each(
        field(
            projected.sources,
            each(
                field(
                    serviceAccountToken,
                    forbidden = "must not be specified when serviceAccountName is not set"
                )
            )
        )
    ),
    when(part(pod), unset(serviceAccountName))
)]
#[check(containers, each(field(image, format = trimmed_text)), when(part(pod)))]
#[check(initContainers, each(field(image, format = trimmed_text)), when(part(pod)))]
#[check(ephemeralContainers, forbidden = "cannot be set on create", when(part(new)))]
#[check(
    nodeName,
    forbidden = "cannot be set until all schedulingGates have been cleared",
    when(part(new), set(nodeName), set(schedulingGates))
)]
#[check(
    ephemeralContainers,
    forbidden = "ephemeral containers not allowed in pod template",
    when(part(template))
)]
#[check(
    resources,
    forbidden = "may not be set for a windows pod",
    when(part(resources), os.name = windows)
)]
#[check(
    resources.claims,
    forbidden = "claims may not be set for Resources at pod-level",
    when(part(resources), not(os.name = windows))
)]
pub struct PodSpec {
    /// Storage that containers in the pod may mount.
    #[field(1, list = map(name), patch = merge_retain_keys)]
    pub volumes: Vec<Volume>,

    /// Containers run in order to completion before the main ones start; sidecars excepted.
    #[field(20, list = map(name), patch = merge)]
    pub init_containers: Vec<Container>,

    /// Main containers; at least one, and the list is fixed after creation.
    #[field(2, required, list = map(name), patch = merge)]
    pub containers: Vec<Container>,

    /// Debug containers attached later through the `ephemeralcontainers` subresource.
    #[field(34, list = map(name), patch = merge)]
    pub ephemeral_containers: Vec<EphemeralContainer>,

    /// Restart behaviour for containers in the pod; defaults to `Always`.
    #[field(3)]
    pub restart_policy: RestartPolicy,

    /// Seconds between the stop signal and a forced kill, 30 by default.
    #[field(4)]
    pub termination_grace_period_seconds: Option<i64>,

    /// Seconds the pod may stay active before it is failed and killed.
    #[field(5)]
    pub active_deadline_seconds: Option<i64>,

    /// How the resolver is configured; the default is `ClusterFirst`, not `Default`.
    #[field(6)]
    pub dns_policy: DNSPolicy,

    /// Labels a node must carry for the pod to land there.
    #[field(7, map = atomic)]
    pub node_selector: Map<String, String>,

    /// ServiceAccount whose identity the pod uses; `default` when omitted.
    #[field(8)]
    pub service_account_name: String,

    /// Old spelling of `serviceAccountName`; use that instead.
    #[field(9, deprecated)]
    pub service_account: String,

    /// Whether an API token is mounted; overrides the ServiceAccount's own setting.
    #[field(21)]
    pub automount_service_account_token: Option<bool>,

    /// Assigned node; presetting it bypasses the scheduler altogether.
    #[field(10)]
    pub node_name: String,

    /// Puts the pod in the node's network namespace, sharing its IPs and ports.
    #[field(11)]
    pub host_network: bool,

    /// Lets containers see all processes of the node.
    #[field(12)]
    pub host_pid: bool,

    /// Lets containers share the node's IPC namespace.
    #[field(13)]
    pub host_ipc: bool,

    /// Makes all containers of the pod see one another's processes.
    #[field(27)]
    pub share_process_namespace: Option<bool>,

    /// Security defaults applied to every container and to volumes.
    #[field(14)]
    pub security_context: Option<PodSecurityContext>,

    /// Registry credentials, as Secret names, tried when pulling images.
    #[field(15, list = map(name), patch = merge)]
    pub image_pull_secrets: Vec<LocalObjectReference>,

    /// Hostname inside the pod; the pod's name if left blank.
    #[field(16)]
    pub hostname: String,

    /// Adds `<hostname>.<subdomain>.<namespace>.svc` naming, typically matching a headless Service.
    #[field(17)]
    pub subdomain: String,

    /// Advanced attraction and repulsion rules for placement.
    #[field(18)]
    pub affinity: Option<Affinity>,

    /// Scheduler in charge of this pod; `default-scheduler` if not given.
    #[field(19)]
    pub scheduler_name: String,

    /// Taints the pod puts up with.
    #[field(22, list = atomic)]
    pub tolerations: Vec<Toleration>,

    /// Additional lines for the containers' `/etc/hosts`.
    #[field(23, list = map(ip), patch = merge)]
    pub host_aliases: Vec<HostAlias>,

    /// PriorityClass used to fill in the pod's priority and preemption behaviour.
    #[field(24)]
    pub priority_class_name: String,

    /// Resolved priority number, normally computed at admission; higher is more important.
    #[field(25)]
    pub priority: Option<i32>,

    /// Resolver details added on top of `dnsPolicy`, mandatory when that is `None`.
    #[field(26)]
    pub dns_config: Option<PodDNSConfig>,

    /// Additional conditions needed before the pod is considered ready.
    #[field(28, list = atomic)]
    pub readiness_gates: Vec<PodReadinessGate>,

    /// RuntimeClass choosing the container runtime configuration; unset uses the default handler.
    #[field(29)]
    pub runtime_class_name: Option<String>,

    /// Injects Docker-style variables for Services in the namespace; true by default.
    #[field(30)]
    pub enable_service_links: Option<bool>,

    /// Whether the pod may evict less important pods to find room.
    #[field(31)]
    pub preemption_policy: Option<PreemptionPolicy>,

    /// Extra resources the sandbox itself costs, copied from the RuntimeClass.
    #[field(32)]
    pub overhead: Map<String, Quantity>,

    /// Rules for spreading matching pods evenly over zones, nodes or other domains.
    #[field(33, list = map(topologyKey, whenUnsatisfiable), patch = merge, key = topologyKey)]
    pub topology_spread_constraints: Vec<TopologySpreadConstraint>,

    /// Uses the fully qualified name as the pod's hostname instead of the short one.
    #[field(35)]
    pub set_hostname_as_fqdn: Option<bool>,

    /// Operating system the pod targets; kubelets on a different OS reject it.
    #[field(36)]
    pub os: Option<PodOS>,

    /// Set false to isolate the pod in its own user namespace; defaults to true.
    #[field(37)]
    pub host_users: Option<bool>,

    /// Blocks scheduling while any gate remains; gates can only be removed later.
    #[field(38, list = map(name), patch = merge)]
    pub scheduling_gates: Vec<PodSchedulingGate>,

    /// Device claims to allocate and reserve before the pod starts.
    #[field(39, list = map(name), patch = merge_retain_keys, gate = DynamicResourceAllocation)]
    pub resource_claims: Vec<PodResourceClaim>,

    /// Pod-wide budget for CPU, memory and hugepages that containers share.
    #[field(40, gate = PodLevelResources)]
    pub resources: Option<ResourceRequirements>,

    /// Exact hostname to use instead of the derived one; up to 64 characters.
    #[field(41, gate = HostnameOverride)]
    pub hostname_override: Option<String>,

    /// Group with which the pod is scheduled, for gang-style workloads.
    #[field(43, gate = GenericWorkload)]
    pub scheduling_group: Option<PodSchedulingGroup>,
}

/// When a pod's exited containers are started again.
pub enum RestartPolicy {
    Always,
    OnFailure,
    Never,
}

/// How a pod's resolver is set up; `Default` inherits the node's configuration.
pub enum DNSPolicy {
    ClusterFirstWithHostNet,
    ClusterFirst,
    Default,
    None,
}

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
