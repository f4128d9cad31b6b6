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
#[check(self, choose = in_pod)]
#[check(self, choose(static_pod, set(metadata.annotations["kubernetes.io/config.mirror"])))]
#[check(metadata.name, tell = object_name)]
#[check(metadata, by_hand = choose_by_meta)]
#[check(spec, below = options)]
#[check(self, by_hand = validate_annotations_of_pod, when(not(subresource = status)))]
#[check(spec, below, when(not(subresource = status)))]
#[check(spec, below = pod, when(not(subresource = status)))]
#[check(spec, below = new, when(create))]
#[check(self, by_hand = validate_pod_against_annotations, when(create))]
#[check(self, by_hand = validate_annotations_change, when(update, not(subresource = resize)))]
#[check(spec, below = change, when(update, subresource = ""))]
#[check(status, below, when(subresource = status))]
#[check(
    spec.nodeName,
    at("/status.nodeName", unchanged = "may not be changed directly"),
    when(subresource = status)
)]
#[check(
    status.nominatedNodeName,
    optional,
    name = dns1123_subdomain,
    when(subresource = status, changed(status.nominatedNodeName))
)]
#[check(
    status.nominatedNodeName,
    forbidden = "may not be set on pods that are already bound to a node",
    when(
        subresource = status,
        changed(status.nominatedNodeName),
        gate(ClearingNominatedNodeNameAfterBinding),
        was(set(spec.nodeName))
    )
)]
#[check(status, below = class, when(subresource = status))]
#[check(self, by_hand = validate_container_states, when(subresource = status))]
#[check(self, open(spec_claims), when(subresource = status))]
#[check(spec.resourceClaims.name, note = spec_claims, when(subresource = status))]
#[check(status.resourceClaimStatuses, below, when(subresource = status))]
#[check(
    status.extendedResourceClaimStatus.requestMappings,
    filled = "at least one request mapping is required",
    when(subresource = status)
)]
#[check(
    self,
    by_hand = validate_extended_resources,
    when(subresource = status, set(status.extendedResourceClaimStatus))
)]
#[check(status.extendedResourceClaimStatus, below, when(subresource = status))]
#[check(status.nodeAllocatableResourceClaimStatuses, below, when(subresource = status))]
#[check(status, below = addresses, when(subresource = status))]
#[check(
    self,
    choose(os_linux, any(unset(spec.os), spec.os.name = linux)),
    when(subresource = status)
)]
#[check(self, choose(os_windows, spec.os.name = windows), when(subresource = status))]
#[check(status, below = users, when(subresource = status))]
#[check(self, by_hand = validate_allocated_resources, when(subresource = status))]
#[check(status, below = mounts, when(subresource = status))]
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
#[check(self, choose(env_files, any(gate(EnvFiles), was(uses(EnvFiles)))), when(part(options)))]
#[check(
    self,
    choose(
        container_restart_rules,
        any(gate(ContainerRestartRules), was(uses(ContainerRestartRules)))
    ),
    when(part(options))
)]
#[check(
    self,
    choose(
        restart_all_containers,
        any(
            gate(RestartAllContainersOnContainerExits),
            was(containers.restartPolicyRules.action = RestartAllContainers),
            was(initContainers.restartPolicyRules.action = RestartAllContainers)
        )
    ),
    when(part(options))
)]
#[check(
    self,
    choose(
        compared_tolerations,
        any(gate(TaintTolerationComparisonOperators), was(tolerations.operator = (Lt, Gt)))
    ),
    when(part(options))
)]
#[check(
    self,
    choose(
        user_namespaces_in_host_network,
        any(
            gate(UserNamespacesHostNetworkSupport),
            was(all(hostUsers = false, hostNetwork = true))
        )
    ),
    when(part(options))
)]
#[check(
    self,
    choose(
        user_namespaces_with_devices,
        was(
            all(
                hostUsers = false,
                any(
                    set(containers.volumeDevices),
                    set(initContainers.volumeDevices),
                    set(ephemeralContainers.volumeDevices)
                )
            )
        )
    ),
    when(part(options))
)]
#[check(
    self,
    choose(
        only_recursive_label_changes,
        not(gate(SELinuxMount)),
        not(was(set(securityContext.seLinuxChangePolicy)))
    ),
    when(part(options))
)]
#[check(
    self,
    choose(
        any_token_path,
        was(
            not(
                holds(volumes.projected.sources.serviceAccountToken.path, format = volume_path)
            )
        )
    ),
    when(part(options))
)]
#[check(
    self,
    choose(
        indivisible_huge_pages,
        any(
            was(not(holds(containers.resources, below = huge_pages))),
            was(not(holds(initContainers.resources, below = huge_pages))),
            was(not(holds(ephemeralContainers.resources, below = huge_pages)))
        )
    ),
    when(part(options))
)]
#[check(
    self,
    choose(
        init_resize_restarts,
        was(not(holds(initContainers, below = resize_restarts)))
    ),
    when(part(options))
)]
#[check(
    self,
    choose(
        sysctls_of_host,
        any(
            was(
                all(
                    hostNetwork = true,
                    not(holds(securityContext.sysctls.name, format = sysctl_beside_network))
                )
            ),
            was(
                all(
                    hostIPC = true,
                    not(holds(securityContext.sysctls.name, format = sysctl_beside_ipc))
                )
            )
        )
    ),
    when(part(options))
)]
#[check(
    self,
    choose(
        any_spread_selector,
        was(not(holds(topologySpreadConstraints.labelSelector, below)))
    ),
    when(part(options))
)]
#[check(
    self,
    choose(
        separate_label_keys,
        any(
            not(gate(MatchLabelKeysInPodTopologySpread)),
            all(
                gate(MatchLabelKeysInPodTopologySpreadSelectorMerge),
                was(not(holds(topologySpreadConstraints, below = merged)))
            ),
            all(
                not(gate(MatchLabelKeysInPodTopologySpreadSelectorMerge)),
                not(was(not(holds(topologySpreadConstraints, below = separate))))
            )
        )
    ),
    when(part(options))
)]
#[check(
    self,
    choose(
        any_values_of_nodes,
        was(
            not(
                holds(
                    affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution,
                    field(nodeSelectorTerms.matchExpressions.values, each(format = label_value))
                )
            )
        )
    ),
    when(part(options))
)]
#[check(
    self,
    choose(
        any_values_of_pods,
        any(
            was(not(holds(affinity.podAffinity, below = known_values))),
            was(not(holds(affinity.podAntiAffinity, below = known_values)))
        )
    ),
    when(part(options))
)]
#[check(self, open(volumes, block_volumes, made_claims, pod_claims, names, targets))]
#[check(self, choose(host_users, not(hostUsers = false)))]
#[check(self, choose(host_network, hostNetwork = true))]
#[check(self, choose(host_ipc, hostIPC = true))]
#[check(self, choose(never_restarted, restartPolicy = Never))]
#[check(self, choose(os_unknown, unset(os)))]
#[check(self, choose(os_linux, os.name = linux))]
#[check(self, choose(os_windows, os.name = windows))]
#[check(terminationGracePeriodSeconds, tell = grace_period)]
#[check(terminationGracePeriodSeconds, required)]
#[check(self, by_hand = note_made_claims, when(option(in_pod), set(volumes.ephemeral)))]
#[check(volumes, below = of_pod)]
#[check(resourceClaims, below)]
#[check(resourceClaims.name, optional, note = pod_claims)]
#[check(containers, required)]
#[check(containers, each(below, field(name, unnoted = names, note = names), below = main))]
#[check(self, by_hand = validate_host_ports)]
#[check(
    initContainers,
    each(
        below,
        below = init_restarts,
        field(name, unnoted = names, optional, note = names),
        below = init
    )
)]
#[check(containers.name, note = targets, when(set(ephemeralContainers)))]
#[check(initContainers.name, note = targets, when(set(ephemeralContainers)))]
#[check(initContainers.name, note = names, when(set(ephemeralContainers)))]
#[check(ephemeralContainers, below)]
#[check(
    resources,
    forbidden = "may not be set for a windows pod",
    when(gate(PodLevelResources), os.name = windows)
)]
#[check(
    resources.claims,
    forbidden = "claims may not be set for Resources at pod-level",
    when(gate(PodLevelResources), not(os.name = windows))
)]
#[check(
    resources,
    by_hand = validate_pod_resources,
    when(gate(PodLevelResources), not(os.name = windows))
)]
#[check(
    self,
    by_hand = validate_aggregates,
    when(gate(PodLevelResources), not(os.name = windows), set(resources))
)]
#[check(containers.ports, below = on_host, when(hostNetwork = true))]
#[check(restartPolicy, required, one_of(Always, OnFailure, Never))]
#[check(dnsPolicy, required, one_of(ClusterFirstWithHostNet, ClusterFirst, Default, None))]
#[check(nodeSelector, labels)]
#[check(securityContext, below = ids)]
#[check(
    shareProcessNamespace,
    at(
        "securityContext.shareProcessNamespace",
        invalid = "ShareProcessNamespace and HostPID cannot both be enabled"
    ),
    when(set(securityContext), shareProcessNamespace = true, hostPID = true)
)]
#[check(securityContext.sysctls, below)]
#[check(securityContext, below)]
#[check(affinity, below)]
#[check(
    dnsConfig,
    missing = "must provide `dnsConfig` when `dnsPolicy` is None",
    when(dnsPolicy = None, unset(dnsConfig))
)]
#[check(
    dnsConfig.nameservers,
    missing = "must provide at least one DNS nameserver when `dnsPolicy` is None",
    when(dnsPolicy = None, unset(dnsConfig.nameservers))
)]
#[check(dnsConfig, below, when(any(not(dnsPolicy = None), set(dnsConfig.nameservers))))]
#[check(readinessGates, below)]
#[check(schedulingGates, below)]
#[check(self, by_hand = validate_spread_constraints)]
#[check(self, by_hand = validate_host_processes)]
#[check(
    hostNetwork,
    forbidden = "when `hostUsers` is false",
    when(
        hostUsers = false,
        hostNetwork = true,
        not(option(user_namespaces_in_host_network))
    )
)]
#[check(
    hostPID,
    at("HostPID", forbidden = "when `hostUsers` is false"),
    when(hostUsers = false, hostPID = true)
)]
#[check(
    hostIPC,
    at("HostIPC", forbidden = "when `hostUsers` is false"),
    when(hostUsers = false, hostIPC = true)
)]
#[check(
    initContainers.volumeDevices,
    forbidden = "when `hostUsers` is false",
    when(hostUsers = false, not(option(user_namespaces_with_devices)))
)]
#[check(
    containers.volumeDevices,
    forbidden = "when `hostUsers` is false",
    when(hostUsers = false, not(option(user_namespaces_with_devices)))
)]
#[check(
    ephemeralContainers.volumeDevices,
    forbidden = "when `hostUsers` is false",
    when(hostUsers = false, not(option(user_namespaces_with_devices)))
)]
#[check(
    hostnameOverride,
    forbidden = "may not be specified when setHostnameAsFQDN is true",
    when(set(hostnameOverride), setHostnameAsFQDN = true)
)]
#[check(
    hostnameOverride,
    forbidden = "may not be specified when hostNetwork is true",
    when(set(hostnameOverride), hostNetwork = true)
)]
#[check(hostnameOverride, max_bytes = 64, name = dns1123_subdomain)]
#[check(serviceAccountName, optional, name = dns1123_subdomain)]
#[check(nodeName, optional, name = dns1123_subdomain)]
#[check(activeDeadlineSeconds, range(1, 2147483647))]
#[check(hostname, optional, name = dns1123_label)]
#[check(subdomain, optional, name = dns1123_label)]
#[check(tolerations, below)]
#[check(hostAliases, below)]
#[check(priorityClassName, optional, name = dns1123_subdomain)]
#[check(runtimeClassName, name = dns1123_subdomain)]
#[check(preemptionPolicy, missing = "", when(set(preemptionPolicy), preemptionPolicy = ""))]
#[check(preemptionPolicy, one_of(PreemptLowerPriority, Never), when(not(preemptionPolicy = "")))]
#[check(self, by_hand = validate_overhead)]
#[check(os.name, required)]
#[check(
    securityContext.windowsOptions,
    forbidden = "windows options cannot be set for a linux pod",
    when(os.name = linux)
)]
#[check(
    initContainers.securityContext.windowsOptions,
    forbidden = "windows options cannot be set for a linux pod",
    when(os.name = linux)
)]
#[check(
    containers.securityContext.windowsOptions,
    forbidden = "windows options cannot be set for a linux pod",
    when(os.name = linux)
)]
#[check(
    ephemeralContainers.securityContext.windowsOptions,
    forbidden = "windows options cannot be set for a linux pod",
    when(os.name = linux)
)]
#[check(
    securityContext.appArmorProfile,
    forbidden = "cannot be set for a windows pod",
    when(os.name = windows)
)]
#[check(
    securityContext.seLinuxOptions,
    forbidden = "cannot be set for a windows pod",
    when(os.name = windows)
)]
#[check(hostUsers, forbidden = "cannot be set for a windows pod", when(os.name = windows))]
#[check(
    hostPID,
    forbidden = "cannot be set for a windows pod",
    when(os.name = windows, hostPID = true)
)]
#[check(
    hostIPC,
    forbidden = "cannot be set for a windows pod",
    when(os.name = windows, hostIPC = true)
)]
#[check(
    securityContext.seccompProfile,
    forbidden = "cannot be set for a windows pod",
    when(os.name = windows)
)]
#[check(
    securityContext.fsGroup,
    forbidden = "cannot be set for a windows pod",
    when(os.name = windows)
)]
#[check(
    securityContext.fsGroupChangePolicy,
    forbidden = "cannot be set for a windows pod",
    when(os.name = windows)
)]
#[check(
    securityContext.sysctls,
    forbidden = "cannot be set for a windows pod",
    when(os.name = windows)
)]
#[check(
    shareProcessNamespace,
    forbidden = "cannot be set for a windows pod",
    when(os.name = windows)
)]
#[check(
    securityContext.runAsUser,
    forbidden = "cannot be set for a windows pod",
    when(os.name = windows)
)]
#[check(
    securityContext.runAsGroup,
    forbidden = "cannot be set for a windows pod",
    when(os.name = windows)
)]
#[check(
    securityContext.supplementalGroups,
    forbidden = "cannot be set for a windows pod",
    when(os.name = windows)
)]
#[check(
    securityContext.supplementalGroupsPolicy,
    forbidden = "cannot be set for a windows pod",
    when(os.name = windows)
)]
#[check(
    securityContext.seLinuxChangePolicy,
    forbidden = "cannot be set for a windows pod",
    when(os.name = windows)
)]
#[check(initContainers.securityContext, below = windows, when(os.name = windows))]
#[check(containers.securityContext, below = windows, when(os.name = windows))]
#[check(ephemeralContainers.securityContext, below = windows, when(os.name = windows))]
#[check(os.name, at(".", optional, one_of(linux, windows)))]
#[check(schedulingGroup, below)]
#[check(self, by_hand = validate_files_of_variables)]
#[check(
    volumes.projected.sources.serviceAccountToken,
    forbidden = "must not be specified when serviceAccountName is not set",
    when(part(pod), unset(serviceAccountName))
)]
#[check(containers.image, format = trimmed_text, when(part(pod)))]
#[check(initContainers.image, format = trimmed_text, when(part(pod)))]
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
    containers,
    refused = "pod updates may not add or remove containers",
    when(part(change), resized(containers))
)]
#[check(
    containers.image,
    filled,
    format = trimmed_text,
    when(part(change), not(resized(containers)))
)]
#[check(
    initContainers,
    refused = "pod updates may not add or remove containers",
    when(part(change), not(resized(containers)), resized(initContainers))
)]
#[check(
    initContainers.image,
    filled,
    format = trimmed_text,
    when(part(change), not(resized(containers)), not(resized(initContainers)))
)]
#[check(
    self,
    choose(comparable, not(resized(containers)), not(resized(initContainers))),
    when(part(change))
)]
#[check(self, by_hand = validate_deadline_change, when(part(change), option(comparable)))]
#[check(self, by_hand = validate_tolerations_change, when(part(change), option(comparable)))]
#[check(schedulingGates, below = added, when(part(change), option(comparable)))]
#[check(self, by_hand = validate_other_changes, when(part(change), option(comparable)))]
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
