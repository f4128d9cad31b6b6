use crate::meta::{ObjectMeta, OwnerReference};

/// A worker machine registered with the cluster.
#[kind(
    plural = "nodes",
    short = "no",
    scope = Cluster,
    prefix = "minions",
    generation = false,
    metadata = whole
)]
#[versions(v1(introduced = "1.0"))]
#[subresource(proxy, kind = core::v1::NodeProxyOptions, verbs(create, delete, get, patch, update))]
#[subresource(status, resets(spec))]
#[column("Status", by_hand = node_status, reads(spec.unschedulable, status.conditions), "Whether the node is ready, and whether pods may be placed on it.")]
#[column("Roles", by_hand = node_roles, reads(metadata.labels), "Roles that its labels give it.")]
#[column("Age", age)]
#[column("Version", status.nodeInfo.kubeletVersion)]
#[column("Internal-IP", by_hand = node_internal_ip, reads(status.addresses), priority = 1, "First address within the cluster.")]
#[column("External-IP", by_hand = node_external_ip, reads(status.addresses), priority = 1, "First address outside of the cluster.")]
#[column("OS-Image", status.nodeInfo.osImage or "<unknown>", priority = 1)]
#[column("Kernel-Version", by_hand = node_kernel_version, reads(status.nodeInfo), priority = 1, "Kernel that the node runs.")]
#[column("Container-Runtime", status.nodeInfo.containerRuntimeVersion or "<unknown>", priority = 1)]
#[selectable(spec.unschedulable)]
#[strategy(create = create_node, update = update_node, warnings = warn_node)]
#[check(metadata, by_hand = validate_node_annotations, when(not(subresource = status)))]
#[check(spec.taints, at("/metadata.taints", below), when(not(subresource = status)))]
#[check(status, below, when(not(subresource = status)))]
#[check(spec, below = new, when(not(subresource = status)))]
#[check(
    metadata,
    by_hand = validate_whole_metadata_update,
    when(update, not(subresource = status))
)]
#[check(metadata, by_hand = validate_node_annotations, when(update))]
#[check(status, below = change, when(update))]
#[check(spec, below, when(update))]
#[check(status, below = config, when(update))]
#[check(spec.taints, at("/metadata.taints", below), when(update))]
#[check(spec, below = last, when(update))]
pub struct Node {
    /// Node name, labels for scheduling, and annotations.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Administrator and controller settings such as taints and pod CIDRs.
    #[field(2)]
    pub spec: NodeSpec,

    /// Capacity, conditions, addresses and software versions reported for the machine.
    #[field(3)]
    pub status: NodeStatus,
}

/// Desired attributes of a cluster node.
#[normalize(by_hand = normalize_node_spec)]
#[check(
    podCIDRs,
    each(format = ip_network),
    when(part(new), gate(StrictIPCIDRValidation))
)]
#[check(
    podCIDRs,
    each(format = lenient_ip_network),
    when(part(new), not(gate(StrictIPCIDRValidation)))
)]
#[check(
    self,
    by_hand = validate_pod_ranges,
    when(part(new), set(podCIDRs), not(single(podCIDRs)))
)]
#[check(
    podCIDRs,
    refused = "node updates may not change podCIDR except from \"\" to valid",
    when(was(set(podCIDRs)), any(resized(podCIDRs), changed(podCIDRs[0])))
)]
#[check(
    podCIDRs,
    refused = "node updates may not change podCIDR except from \"\" to valid",
    when(not(resized(podCIDRs)), set(podCIDRs[1]), changed(podCIDRs[1]))
)]
#[check(
    providerID,
    unchanged = "node updates may not change providerID except from \"\" to valid",
    when(was(set(providerID)))
)]
#[check(configSource, below = spec)]
#[check(externalID, unchanged = "may not be updated", when(part(last)))]
pub struct NodeSpec {
    /// IP range from which pods on this node get addresses.
    #[field(1)]
    pub pod_cidr: String,

    /// Pod ranges for dual-stack, one per family; the first equals `podCIDR`.
    #[field(7, list = set, patch = merge)]
    pub pod_cidrs: Vec<String>,

    /// Cloud instance identifier, e.g. `aws:///eu-west-1a/i-0abc`.
    #[field(3)]
    pub provider_id: String,

    /// Keeps new pods off the node; toggled by `kubectl cordon` and `uncordon`.
    #[field(4)]
    pub unschedulable: bool,

    /// Marks that repel pods lacking a matching toleration.
    #[field(5, list = atomic)]
    pub taints: Vec<Taint>,

    /// Obsolete dynamic kubelet configuration reference, ignored today.
    #[field(6, deprecated)]
    pub config_source: Option<NodeConfigSource>,

    /// Unused legacy identifier kept for old clients.
    #[field(2, deprecated)]
    pub external_id: String,
}

/// Where dynamic kubelet configuration comes from; the feature was removed in v1.24.
#[check(configMap, below = spec, when(part(spec)))]
#[check(configMap, below = status, when(part(status)))]
#[check(
    self,
    invalid = "exactly one reference subfield must be non-nil",
    when(part(spec, status), unset(configMap))
)]
pub struct NodeConfigSource {
    /// ConfigMap that supplies the kubelet settings.
    #[field(2)]
    pub config_map: Option<ConfigMapNodeConfigSource>,
}

/// Legacy pointer from a node to a ConfigMap holding kubelet settings; no longer honoured.
#[check(uid, forbidden = "uid must not be set in spec", when(part(spec)))]
#[check(resourceVersion, forbidden = "resourceVersion must not be set in spec", when(part(spec)))]
#[check(uid, filled, when(part(status)))]
#[check(resourceVersion, filled, when(part(status)))]
#[check(namespace, required, name = dns1123_label, when(part(spec, status)))]
#[check(name, required, name = dns1123_subdomain, when(part(spec, status)))]
#[check(kubeletConfigKey, required, format = config_map_key, when(part(spec, status)))]
pub struct ConfigMapNodeConfigSource {
    /// Namespace of the ConfigMap that stores the kubelet configuration.
    #[field(1, required)]
    pub namespace: String,

    /// Which ConfigMap the kubelet should load its configuration from.
    #[field(2, required)]
    pub name: String,

    /// Unique ID of the ConfigMap; filled in only in node status, never in spec.
    #[field(3, go = "types.UID")]
    pub uid: String,

    /// ConfigMap revision the kubelet loaded; reported in node status and disallowed in spec.
    #[field(4)]
    pub resource_version: String,

    /// Data key inside the ConfigMap under which the kubelet configuration file lives.
    #[field(5, required)]
    pub kubelet_config_key: String,
}

/// Everything the kubelet and controllers report about a node.
#[default(by_hand = default_node_status)]
#[check(self, by_hand = validate_node_amounts, when(part(default, change)))]
#[check(nodeInfo.swap.capacity, at("/metadata.nodeSwapStatus.capacity", positive))]
#[check(self, by_hand = validate_declared_features, when(part(default, change)))]
#[check(addresses, each(distinct(type, address)), when(part(change)))]
#[check(config, below, when(part(config)))]
pub struct NodeStatus {
    /// Total resources of the machine, before system reservations.
    #[field(1)]
    pub capacity: Map<String, Quantity>,

    /// Resources left for pods after system and kubelet reservations.
    #[field(2)]
    pub allocatable: Map<String, Quantity>,

    /// Old lifecycle marker that nothing fills in any more.
    #[field(3)]
    pub phase: NodePhase,

    /// Health observations such as readiness and resource pressure.
    #[field(4, list = map(type), patch = merge)]
    pub conditions: Vec<NodeCondition>,

    /// IPs and names reaching the node, from the kubelet or cloud provider.
    #[field(5, list = map(type), patch = merge)]
    pub addresses: Vec<NodeAddress>,

    /// Where node daemons such as the kubelet listen.
    #[field(6)]
    pub daemon_endpoints: NodeDaemonEndpoints,

    /// Operating system, kernel and component versions of the machine.
    #[field(7)]
    pub node_info: NodeSystemInfo,

    /// Container images already cached locally, largest first and limited in number.
    #[field(8, list = atomic)]
    pub images: Vec<ContainerImage>,

    /// Volumes still mounted here, so they must not be detached yet.
    #[field(9, list = atomic, go = "UniqueVolumeName")]
    pub volumes_in_use: Vec<String>,

    /// Volumes the controller has attached to this node.
    #[field(10, list = atomic)]
    pub volumes_attached: Vec<AttachedVolume>,

    /// Leftover status of dynamic kubelet configuration.
    #[field(11)]
    pub config: Option<NodeConfigStatus>,

    /// Runtime handlers present and what each can do.
    #[field(12, list = atomic)]
    pub runtime_handlers: Vec<NodeRuntimeHandler>,

    /// Feature support reported by the runtime.
    #[field(13, gate = SupplementalGroupsPolicy)]
    pub features: Option<NodeFeatures>,

    /// Kubelet features announced to the scheduler for matching pods with capable nodes.
    #[field(14, list = atomic, gate = NodeDeclaredFeatures)]
    pub declared_features: Vec<String>,
}

/// Obsolete lifecycle stage of a node.
pub enum NodePhase {
    Pending,
    Running,
    Terminated,
}

/// One health observation about a node.
pub struct NodeCondition {
    /// Aspect of the node, such as `Ready` or `DiskPressure`.
    #[field(1, required)]
    pub r#type: NodeConditionType,

    /// Verdict; `Unknown` typically means the kubelet stopped reporting.
    #[field(2, required)]
    pub status: ConditionStatus,

    /// Last time the kubelet refreshed this observation.
    #[field(3, always)]
    pub last_heartbeat_time: Time,

    /// When the verdict last switched.
    #[field(4, always)]
    pub last_transition_time: Time,

    /// Compact CamelCase cause, e.g. `KubeletReady`.
    #[field(5)]
    pub reason: String,

    /// Sentence explaining the verdict to a person.
    #[field(6)]
    pub message: String,
}

/// Health aspect of a node, such as readiness or memory pressure.
#[open]
pub enum NodeConditionType {
    Ready,
    MemoryPressure,
    DiskPressure,
    PIDPressure,
    NetworkUnavailable,
}

/// One address or name by which a node is reachable.
pub struct NodeAddress {
    /// Category, e.g. `InternalIP`, `ExternalIP` or `Hostname`.
    #[field(1, required)]
    pub r#type: NodeAddressType,

    /// The IP or DNS name itself.
    #[field(2, required)]
    pub address: String,
}

/// Category of a node's address or name.
#[open]
pub enum NodeAddressType {
    Hostname,
    InternalIP,
    ExternalIP,
    InternalDNS,
    ExternalDNS,
}

/// Ports opened by Kubernetes daemons on the node.
pub struct NodeDaemonEndpoints {
    /// Port of the kubelet API, usually 10250.
    #[field(1)]
    pub kubelet_endpoint: DaemonEndpoint,
}

/// Network port on which a node daemon accepts connections.
pub struct DaemonEndpoint {
    /// TCP port number the daemon listens on.
    #[field(1, json = "Port", required)]
    pub port: i32,
}

/// Hardware identifiers and software versions found on a node.
pub struct NodeSystemInfo {
    /// Identifier from `/etc/machine-id`, meant to be unique in the cluster.
    #[field(1, required)]
    pub machine_id: String,

    /// Hardware UUID, taken from firmware on most machines.
    #[field(2, required)]
    pub system_uuid: String,

    /// Random value that changes with each reboot.
    #[field(3, required)]
    pub boot_id: String,

    /// Running kernel release, as shown by `uname -r`.
    #[field(4, required)]
    pub kernel_version: String,

    /// Pretty distribution name, e.g. `Ubuntu 24.04 LTS`.
    #[field(5, required)]
    pub os_image: String,

    /// Runtime with version, like `containerd://2.0.0`.
    #[field(6, required)]
    pub container_runtime_version: String,

    /// Version of the kubelet binary in use.
    #[field(7, required)]
    pub kubelet_version: String,

    /// Deprecated and unreliable; do not use it to learn kube-proxy's version.
    #[field(8, required, deprecated)]
    pub kube_proxy_version: String,

    /// OS family, `linux` or `windows`.
    #[field(9, required)]
    pub operating_system: String,

    /// CPU architecture, for example `amd64` or `arm64`.
    #[field(10, required)]
    pub architecture: String,

    /// Swap details when the node reports them.
    #[field(11)]
    pub swap: Option<NodeSwapStatus>,
}

/// Swap information for the node.
pub struct NodeSwapStatus {
    /// Total swap space in bytes.
    #[field(1)]
    pub capacity: Option<i64>,
}

/// An image cached on a node, with its known names and disk size.
pub struct ContainerImage {
    /// All tags and digests by which this cached image is known.
    #[field(1, always, list = atomic)]
    pub names: Vec<String>,

    /// Disk space the image takes up, in bytes.
    #[field(2)]
    pub size_bytes: i64,
}

/// A volume currently attached to a node.
pub struct AttachedVolume {
    /// Cluster-unique identifier of the attached volume.
    #[field(1, required, go = "UniqueVolumeName")]
    pub name: String,

    /// Device path on the node where the volume appears.
    #[field(2, required)]
    pub device_path: String,
}

/// Reported state of dynamic kubelet configuration, now obsolete.
#[check(assigned, below = status)]
#[check(active, below = status)]
#[check(lastKnownGood, below = status)]
pub struct NodeConfigStatus {
    /// Configuration the kubelet is going to try.
    #[field(1)]
    pub assigned: Option<NodeConfigSource>,

    /// Configuration the kubelet is running with.
    #[field(2)]
    pub active: Option<NodeConfigSource>,

    /// Fallback configuration used if the assigned one proves broken.
    #[field(3)]
    pub last_known_good: Option<NodeConfigSource>,

    /// Trouble reconciling the assigned configuration, if any.
    #[field(4)]
    pub error: String,
}

/// A runtime configuration available on the node.
pub struct NodeRuntimeHandler {
    /// Handler identifier as referenced by RuntimeClass; empty is the default handler.
    #[field(1, always)]
    pub name: String,

    /// Optional abilities this handler offers to pods.
    #[field(2)]
    pub features: Option<NodeRuntimeHandlerFeatures>,
}

/// Abilities that a particular runtime handler advertises.
pub struct NodeRuntimeHandlerFeatures {
    /// True if mounts can be made read-only including their submounts.
    #[field(1)]
    pub recursive_read_only_mounts: Option<bool>,

    /// True if pods may run with `hostUsers: false`.
    #[field(2)]
    pub user_namespaces: Option<bool>,
}

/// Optional abilities of the node's container runtime stack.
pub struct NodeFeatures {
    /// True if the runtime can honour a pod's `supplementalGroupsPolicy`.
    #[field(1)]
    pub supplemental_groups_policy: Option<bool>,
}

/// Pods a node would rather not run, stored in a node annotation.
#[versions(v1)]
pub struct AvoidPods {
    /// Entries for pod owners the scheduler should try to place elsewhere.
    #[field(1, list = atomic)]
    pub prefer_avoid_pods: Vec<PreferAvoidPodsEntry>,
}

/// Hint that certain pods should rather not be placed on a node.
#[versions(v1)]
pub struct PreferAvoidPodsEntry {
    /// Which pods the hint concerns.
    #[field(1, required)]
    pub pod_signature: PodSignature,

    /// When such pods were evicted, prompting the hint.
    #[field(2, always)]
    pub eviction_time: Time,

    /// Short cause of the hint.
    #[field(3)]
    pub reason: String,

    /// Readable motive behind the hint.
    #[field(4)]
    pub message: String,
}

/// Identifies a class of pods by the controller that owns them.
#[versions(v1)]
pub struct PodSignature {
    /// Owner, e.g. a ReplicaSet, whose pods are meant.
    #[field(1)]
    pub pod_controller: Option<OwnerReference>,
}
