use crate::meta::ObjectMeta;

/// Registers a CSI driver and describes how Kubernetes interacts with it.
#[kind(plural = "csidrivers", scope = Cluster, unconditional_update = false, delete_returns_object, generation = false)]
#[versions(
    v1(introduced = "1.18"),
    v1beta1(unserved, introduced = "1.14", deprecated = "1.19", replacement = "storage.k8s.io/v1 CSIDriver")
)]
#[column(
    "AttachRequired",
    boolean,
    by_hand = csi_driver_attach_required,
    reads(spec.attachRequired),
    "Whether volumes of the driver are attached before they are mounted."
)]
#[column("PodInfoOnMount", boolean, spec.podInfoOnMount)]
#[column("StorageCapacity", boolean, spec.storageCapacity)]
#[column("TokenRequests", join(spec.tokenRequests.audience) or "<unset>")]
#[column("RequiresRepublish", boolean, spec.requiresRepublish)]
#[column("Modes", join(spec.volumeLifecycleModes) or "<none>")]
#[column("Age", age)]
#[default(spec.attachRequired = true)]
#[default(spec.podInfoOnMount = false)]
#[default(spec.storageCapacity = false)]
#[default(spec.fsGroupPolicy = ReadWriteOnceWithFSType)]
#[default(spec.volumeLifecycleModes = [Persistent])]
#[default(spec.requiresRepublish = false)]
#[default(by_hand = default_csi_driver)]
#[strategy(update = update_driver, warnings = warn_csi_driver)]
#[check(spec, below)]
#[check(spec.attachRequired, at("attachedRequired", immutable))]
#[check(spec.volumeLifecycleModes, immutable)]
pub struct CSIDriver {
    /// Object identity; the name must equal what the driver itself reports.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Capabilities and behaviour switches of the driver.
    #[field(2, required)]
    pub spec: CSIDriverSpec,
}

/// Switches adjusting how Kubernetes drives a CSI plugin.
#[check(attachRequired, at("attachedRequired", required))]
#[check(podInfoOnMount, required)]
#[check(storageCapacity, required)]
#[check(fsGroupPolicy, one_of(File, None, ReadWriteOnceWithFSType))]
#[check(tokenRequests, below)]
#[check(volumeLifecycleModes, each(at(".", one_of(Persistent, Ephemeral))))]
#[check(seLinuxMount, required, when(gate(SELinuxMountReadWriteOncePod)))]
#[check(nodeAllocatableUpdatePeriodSeconds, min(10, "must be greater than or equal to 10 seconds"))]
#[check(
    serviceAccountTokenInSecrets,
    invalid = "serviceAccountTokenInSecrets is set but no tokenRequests are specified",
    when(set(serviceAccountTokenInSecrets), unset(tokenRequests))
)]
#[check(preventPodSchedulingIfMissing, required, when(gate(VolumeLimitScaling)))]
pub struct CSIDriverSpec {
    /// Whether volumes go through an attach step via VolumeAttachment; default true.
    #[field(1)]
    pub attach_required: Option<bool>,

    /// Passes pod name, namespace and UID to the driver on mount; default false.
    #[field(2)]
    pub pod_info_on_mount: Option<bool>,

    /// Supported volume kinds: `Persistent`, the default, and inline `Ephemeral`.
    #[field(3, list = set)]
    pub volume_lifecycle_modes: Vec<VolumeLifecycleMode>,

    /// Makes the scheduler consult CSIStorageCapacity objects before placing pods; default false.
    #[field(4)]
    pub storage_capacity: Option<bool>,

    /// When volume ownership is adjusted to the pod's `fsGroup`; default `ReadWriteOnceWithFSType`.
    #[field(5)]
    pub fs_group_policy: Option<FSGroupPolicy>,

    /// Service account tokens the kubelet supplies to the driver at mount time.
    #[field(6, list = atomic)]
    pub token_requests: Vec<TokenRequest>,

    /// Makes the kubelet repeat `NodePublishVolume` periodically, for instance to refresh tokens.
    #[field(7)]
    pub requires_republish: Option<bool>,

    /// Declares support for mounting with `-o context`, avoiding recursive relabelling; default false.
    #[field(8, gate = SELinuxMountReadWriteOncePod)]
    pub se_linux_mount: Option<bool>,

    /// Seconds between refreshes of per-node volume limits, 10 minimum; unset disables them.
    #[field(9, gate = MutableCSINodeAllocatableCount)]
    pub node_allocatable_update_period_seconds: Option<i64>,

    /// Delivers tokens in the secrets field of mount calls rather than volume context.
    #[field(10, gate = CSIServiceAccountTokenSecrets)]
    pub service_account_token_in_secrets: Option<bool>,

    /// Keeps pods needing this driver off nodes where it is not installed.
    #[field(11, gate = VolumeLimitScaling)]
    pub prevent_pod_scheduling_if_missing: Option<bool>,
}

/// Ways a CSI volume can be used: via claims or inline in a pod.
#[open]
pub enum VolumeLifecycleMode {
    Persistent,
    Ephemeral,
}

/// Decides if the kubelet may change volume ownership for `fsGroup`.
#[open]
pub enum FSGroupPolicy {
    ReadWriteOnceWithFSType,
    File,
    None,
}

/// Describes one service account token that a CSI driver wants.
#[check(
    self,
    field(audience, distinct),
    valid,
    field(
        expirationSeconds,
        min(600, "may not specify a duration less than 10 minutes"),
        max(4294967296, "may not specify a duration larger than 2^32 seconds")
    )
)]
pub struct TokenRequest {
    /// Intended token audience; empty uses the API server's own.
    #[field(1, required)]
    pub audience: String,

    /// Requested lifetime in seconds, one hour by default, ten minutes at least.
    #[field(2)]
    pub expiration_seconds: Option<i64>,
}

mod v1beta1 {
    #[differs(CSIDriver)]
    #[default(spec.attachRequired = true)]
    #[default(spec.podInfoOnMount = false)]
    #[default(spec.storageCapacity = false)]
    #[default(spec.fsGroupPolicy = ReadWriteOnceWithFSType)]
    #[default(spec.volumeLifecycleModes = [Persistent])]
    #[default(spec.requiresRepublish = false)]
    #[default(by_hand = default_v1beta1_csi_driver)]
    struct CSIDriver {}

    #[differs(CSIDriverSpec)]
    struct CSIDriverSpec {
        /// Supported volume kinds: `Persistent`, the default, and inline `Ephemeral`.
        #[field(3, list = atomic)]
        volume_lifecycle_modes: Vec<VolumeLifecycleMode>,
    }
}
