/// Observed state of a pod, written mainly by the kubelet.
#[default(by_hand = default_pod_status)]
#[normalize(by_hand = normalize_pod_status)]
#[check(conditions, below)]
#[check(observedGeneration, min(0, "must be a non-negative integer"), when(part(class)))]
#[check(qosClass, immutable, when(part(class)))]
#[check(containerStatuses, below = users, when(part(users)))]
#[check(initContainerStatuses, below = users, when(part(users)))]
#[check(ephemeralContainerStatuses, below = users, when(part(users)))]
#[check(ephemeralContainerStatuses, below = ephemeral, when(part(mounts)))]
#[check(containerStatuses, below = mounts, when(part(mounts)))]
#[check(initContainerStatuses, below = mounts, when(part(mounts)))]
#[check(ephemeralContainerStatuses, below = mounts, when(part(mounts)))]
#[check(
    podIPs,
    each(field(ip, at(".", ratchet, format = ip_address))),
    when(part(addresses), gate(StrictIPCIDRValidation))
)]
#[check(
    podIPs,
    each(field(ip, at(".", ratchet, format = lenient_ip_address))),
    when(part(addresses), not(gate(StrictIPCIDRValidation)))
)]
#[check(self, by_hand = validate_pod_families, when(part(addresses), set(podIPs)))]
#[check(
    hostIPs[0].ip,
    invalid = "must be equal to `hostIP`",
    when(part(addresses), set(hostIPs), not(same(hostIPs[0].ip, hostIP)))
)]
#[check(
    hostIPs,
    each(field(ip, at(".", ratchet, format = ip_address))),
    when(part(addresses), gate(StrictIPCIDRValidation))
)]
#[check(
    hostIPs,
    each(field(ip, at(".", ratchet, format = lenient_ip_address))),
    when(part(addresses), not(gate(StrictIPCIDRValidation)))
)]
#[check(self, by_hand = validate_host_families, when(part(addresses), set(hostIPs)))]
pub struct PodStatus {
    /// Spec generation the kubelet has taken into account.
    #[field(17)]
    pub observed_generation: i64,

    /// Coarse lifecycle stage: `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.
    #[field(1)]
    pub phase: PodPhase,

    /// Detailed milestones such as scheduled, initialised and ready.
    #[field(2, list = map(type), patch = merge)]
    pub conditions: Vec<PodCondition>,

    /// Sentence saying why the pod got into its present shape.
    #[field(3)]
    pub message: String,

    /// Brief cause for the pod's state, e.g. `Evicted`.
    #[field(4)]
    pub reason: String,

    /// Node set aside for the pod, for example while preemption clears space.
    #[field(11)]
    pub nominated_node_name: String,

    /// Primary IP of the node; empty until the pod is placed and started.
    #[field(5)]
    pub host_ip: String,

    /// All node addresses known to the pod, led by `hostIP`.
    #[field(16, list = atomic, patch = merge, key = ip)]
    pub host_ips: Vec<HostIP>,

    /// Primary address of the pod, reachable inside the cluster; empty until assigned.
    #[field(6)]
    pub pod_ip: String,

    /// All addresses of the pod, one per IP family, led by `podIP`.
    #[field(12, list = map(ip), patch = merge)]
    pub pod_ips: Vec<PodIP>,

    /// When the kubelet accepted the pod, before any image was pulled.
    #[field(7)]
    pub start_time: Option<Time>,

    /// State of every init container, in spec order.
    #[field(10, list = atomic)]
    pub init_container_statuses: Vec<ContainerStatus>,

    /// State of every main container.
    #[field(8, list = atomic)]
    pub container_statuses: Vec<ContainerStatus>,

    /// Service class derived from requests and limits, influencing eviction order.
    #[field(9)]
    pub qos_class: PodQOSClass,

    /// State of debug containers that were added to the pod.
    #[field(13, list = atomic)]
    pub ephemeral_container_statuses: Vec<ContainerStatus>,

    /// Deprecated resize state; look at the resize conditions instead.
    #[field(14, gate = InPlacePodVerticalScaling, deprecated)]
    pub resize: PodResizeStatus,

    /// Claims that the entries in `spec.resourceClaims` resolved to.
    #[field(15, list = map(name), patch = merge_retain_keys, gate = DynamicResourceAllocation)]
    pub resource_claim_statuses: Vec<PodResourceClaimStatus>,

    /// Claim automatically made to satisfy extended resources via dynamic allocation.
    #[field(18, gate = DRAExtendedResource)]
    pub extended_resource_claim_status: Option<PodExtendedResourceClaimStatus>,

    /// Pod-level amounts the node has committed to.
    #[field(19, gate = InPlacePodLevelResourcesVerticalScaling)]
    pub allocated_resources: Map<String, Quantity>,

    /// Pod-level requests and limits currently enforced.
    #[field(20, gate = InPlacePodLevelResourcesVerticalScaling)]
    pub resources: Option<ResourceRequirements>,

    /// Node resources such as CPU that were granted through claims.
    #[field(21, list = atomic, gate = DRANodeAllocatableResources)]
    pub node_allocatable_resource_claim_statuses: Vec<NodeAllocatableResourceClaimStatus>,
}

/// Broad stage of a pod's life, from pending to finished.
pub enum PodPhase {
    Pending,
    Running,
    Succeeded,
    Failed,
    Unknown,
}

/// One observation about a pod's progress or health.
#[check(observedGeneration, min(0, "must be a non-negative integer"))]
#[check(
    type,
    at("Type", format = qualified_name),
    when(not(type = (PodScheduled, Ready, Initialized)))
)]
pub struct PodCondition {
    /// Aspect observed, such as `PodScheduled`, `Ready` or a custom readiness gate.
    #[field(1, required)]
    pub r#type: PodConditionType,

    /// Pod generation that this observation was based on.
    #[field(7)]
    pub observed_generation: i64,

    /// Whether the aspect holds: `True`, `False` or `Unknown`.
    #[field(2, required)]
    pub status: ConditionStatus,

    /// Last check of this aspect; frequently null.
    #[field(3, always)]
    pub last_probe_time: Time,

    /// When the status value last changed.
    #[field(4, always)]
    pub last_transition_time: Time,

    /// One-word CamelCase cause, e.g. `Unschedulable`.
    #[field(5)]
    pub reason: String,

    /// Readable background to the condition.
    #[field(6)]
    pub message: String,
}

/// Milestone or state tracked for a pod.
#[open]
pub enum PodConditionType {
    ContainersReady,
    Initialized,
    Ready,
    PodScheduled,
    DisruptionTarget,
    PodReadyToStartContainers,
    PodResizePending,
    PodResizeInProgress,
    AllContainersRestarting,
}

/// One IP address belonging to the node running the pod.
pub struct HostIP {
    /// Node address, in IPv4 or IPv6 form.
    #[field(1, required)]
    pub ip: String,
}

/// One of the addresses assigned to a pod.
pub struct PodIP {
    /// IPv4 or IPv6 address of the pod.
    #[field(1, required)]
    pub ip: String,
}

/// State of one container in the pod, as last observed by the kubelet.
#[default(by_hand = default_container_status)]
#[check(
    user.linux,
    forbidden = "cannot be set for a windows pod",
    when(part(users), option(os_windows))
)]
#[check(user.linux, below, when(part(users), option(os_linux)))]
#[check(
    allocatedResourcesStatus,
    forbidden = "must not be specified in container status",
    when(part(ephemeral))
)]
#[check(
    volumeMounts,
    each(
        field(
            volumeStatus.image.imageRef,
            at("../imageVolumeStatus.imageRef", required, max_bytes = 256)
        )
    ),
    when(part(mounts))
)]
pub struct ContainerStatus {
    /// Container in the pod spec that this entry reports on.
    #[field(1, required)]
    pub name: String,

    /// Current state of the container.
    #[field(2)]
    pub state: ContainerState,

    /// How the previous run ended; handy for debugging crash loops.
    #[field(3)]
    pub last_state: ContainerState,

    /// True while the readiness probe passes, or once started when no probe exists.
    #[field(4, required)]
    pub ready: bool,

    /// How often the container was restarted; may drop if dead containers are garbage-collected.
    #[field(5, required)]
    pub restart_count: i32,

    /// Image in use as reported by the runtime; can differ textually from the spec.
    #[field(6, required)]
    pub image: String,

    /// Resolved image identifier, normally including the exact digest.
    #[field(7, required)]
    pub image_id: String,

    /// Identifier assigned by the container runtime, prefixed with the runtime type.
    #[field(8)]
    pub container_id: String,

    /// True after the startup probe succeeded and any postStart hook finished; resets on restart.
    #[field(9)]
    pub started: Option<bool>,

    /// Amounts the node has reserved for the container after admission or a resize.
    #[field(10)]
    pub allocated_resources: Map<String, Quantity>,

    /// Requests and limits actually in force on the running container.
    #[field(11, gate = InPlacePodVerticalScaling)]
    pub resources: Option<ResourceRequirements>,

    /// Observed state of each volume mounted into the container.
    #[field(12, list = map(mountPath), patch = merge)]
    pub volume_mounts: Vec<VolumeMountStatus>,

    /// User identity the container's first process was started with.
    #[field(13, gate = SupplementalGroupsPolicy)]
    pub user: Option<ContainerUser>,

    /// Health of devices assigned to the container, grouped by resource.
    #[field(14, list = map(name), patch = merge, gate = ResourceHealthStatus)]
    pub allocated_resources_status: Vec<ResourceStatus>,

    /// Signal the runtime will send when stopping this container.
    #[field(15, gate = ContainerStopSignals)]
    pub stop_signal: Option<Signal>,
}

/// Current situation of a container: waiting, running or terminated, with only one filled in.
pub struct ContainerState {
    /// Present while the container is still being prepared or is backing off.
    #[field(1)]
    pub waiting: Option<ContainerStateWaiting>,

    /// Present while the container's process is alive.
    #[field(2)]
    pub running: Option<ContainerStateRunning>,

    /// Present after the process has exited, carrying exit code and timings.
    #[field(3)]
    pub terminated: Option<ContainerStateTerminated>,
}

/// Details reported for a container that has not yet started running.
pub struct ContainerStateWaiting {
    /// Short cause for the delay, e.g. `ImagePullBackOff`, `CrashLoopBackOff` or `ContainerCreating`.
    #[field(1)]
    pub reason: String,

    /// Longer explanation of what is holding the container back.
    #[field(2)]
    pub message: String,
}

/// Details reported for a container that is currently executing.
pub struct ContainerStateRunning {
    /// Moment the running container was most recently launched.
    #[field(1, always)]
    pub started_at: Time,
}

/// Details reported for a container that has finished, either normally or with a failure.
pub struct ContainerStateTerminated {
    /// Process exit code; 137 usually means SIGKILL, for example after running out of memory.
    #[field(1, required)]
    pub exit_code: i32,

    /// Signal number that ended the process, if one was reported.
    #[field(2)]
    pub signal: i32,

    /// Short cause in CamelCase, such as `Completed`, `Error` or `OOMKilled`.
    #[field(3)]
    pub reason: String,

    /// Free-form detail about the exit, often read from the termination message file.
    #[field(4)]
    pub message: String,

    /// When the run that just ended had begun.
    #[field(5, always)]
    pub started_at: Time,

    /// Moment at which the process exited.
    #[field(6, always)]
    pub finished_at: Time,

    /// Runtime identifier of the finished container, formatted like `containerd://<id>`.
    #[field(7)]
    pub container_id: String,
}

/// Observed state of one mount in a container.
pub struct VolumeMountStatus {
    /// Matches the mount's `name` in the spec.
    #[field(1, required)]
    pub name: String,

    /// Matches the mount's path in the spec.
    #[field(2, required)]
    pub mount_path: String,

    /// Whether the mount ended up non-writable.
    #[field(3)]
    pub read_only: bool,

    /// Whether submounts ended up read-only too.
    #[field(4)]
    pub recursive_read_only: Option<RecursiveReadOnlyMode>,

    /// Details specific to the volume type, where available.
    #[field(5)]
    pub volume_status: Option<VolumeStatus>,
}

/// Type-specific status of a mounted volume.
pub struct VolumeStatus {
    /// Status of an image volume, such as its resolved digest.
    #[field(1, gate = ImageVolumeWithDigest)]
    pub image: Option<ImageVolumeStatus>,
}

/// Identity under which a container's initial process runs.
pub struct ContainerUser {
    /// UID, GID and extra groups on Linux; empty on Windows nodes.
    #[field(1)]
    pub linux: Option<LinuxContainerUser>,
}

/// Numeric user and groups of a container's first process on Linux.
#[check(uid, range(0, 2147483647))]
#[check(gid, range(0, 2147483647))]
#[check(supplementalGroups, each(range(0, 2147483647)))]
pub struct LinuxContainerUser {
    /// Primary user ID the process started as.
    #[field(1, required)]
    pub uid: i64,

    /// Primary group ID the process started as.
    #[field(2, required)]
    pub gid: i64,

    /// Additional group IDs attached to the process at launch.
    #[field(3, list = atomic)]
    pub supplemental_groups: Vec<i64>,
}

/// Device health for one resource of a container.
#[check(resources, below)]
pub struct ResourceStatus {
    /// Resource covered: a device plugin's name or `claim:<claim>/<request>`.
    #[field(1, required)]
    pub name: ResourceName,

    /// Health of each individual device, listed by unique ID.
    #[field(2, list = map(resourceID))]
    pub resources: Vec<ResourceHealth>,
}

/// Health of one device assigned to a container.
#[check(health, one_of(Healthy, Unhealthy, Unknown))]
#[check(resourceID, distinct)]
pub struct ResourceHealth {
    /// Identifier of the device, as given by its plugin or driver.
    #[field(1, required, go = "ResourceID")]
    pub resource_id: String,

    /// Verdict `Healthy`, `Unhealthy`, or `Unknown` if nothing was reported.
    #[field(2)]
    pub health: ResourceHealthStatus,

    /// Driver's explanation of the device's health, if supplied.
    #[field(6, gate = ResourceHealthStatusMessage)]
    pub message: Option<String>,
}

/// Verdict on a device's health.
#[open]
pub enum ResourceHealthStatus {
    Healthy,
    Unhealthy,
    Unknown,
}

/// Quality tier that determines how early a pod is evicted under pressure.
pub enum PodQOSClass {
    Guaranteed,
    Burstable,
    BestEffort,
}

/// Progress of an in-place pod resize.
#[open]
pub enum PodResizeStatus {
    InProgress,
    Deferred,
    Infeasible,
}

/// Records which claim a pod's claim entry resolved to.
#[check(
    name,
    noted(spec_claims, "must match the name of an entry in `spec.resourceClaims`"),
    distinct
)]
#[check(resourceClaimName, json(name = dns1123_subdomain))]
pub struct PodResourceClaimStatus {
    /// Handle of the matching entry in `spec.resourceClaims`.
    #[field(1, required)]
    pub name: String,

    /// Claim generated from the template; unset if none was needed.
    #[field(2)]
    pub resource_claim_name: Option<String>,
}

/// Shows which claim was created to back the pod's extended resources.
#[check(resourceClaimName, required, name = dns1123_subdomain)]
pub struct PodExtendedResourceClaimStatus {
    /// Ties each container's extended resource to a request within that claim.
    #[field(1, required, list = atomic)]
    pub request_mappings: Vec<ContainerExtendedResourceRequest>,

    /// Claim automatically created for the extended resources.
    #[field(2, required)]
    pub resource_claim_name: String,
}

/// Maps a container's extended resource to the device request generated for it.
pub struct ContainerExtendedResourceRequest {
    /// Container that requested the extended resource in its resource list.
    #[field(1, required)]
    pub container_name: String,

    /// Extended resource in question, for example `example.com/gpu`.
    #[field(2, required)]
    pub resource_name: String,

    /// Request inside the generated ResourceClaim that satisfies this extended resource.
    #[field(3, required)]
    pub request_name: String,
}

/// Tracks node resources, like CPU or memory, obtained through a ResourceClaim.
#[check(resourceClaimName, required, name = dns1123_subdomain)]
#[check(containers, filled)]
#[check(resources, filled, each(key(json(format = native_resource)), not_negative))]
pub struct NodeAllocatableResourceClaimStatus {
    /// Claim through which the node resources were allocated.
    #[field(1, required)]
    pub resource_claim_name: String,

    /// Containers in the pod that consume the claim.
    #[field(2, list = set)]
    pub containers: Vec<String>,

    /// Amounts taken from the node's allocatable pool, keyed by resource.
    #[field(3, required, go_whole = "map[ResourceName]resource.Quantity")]
    pub resources: Map<String, Quantity>,
}
