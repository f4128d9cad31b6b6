use crate::meta::ObjectMeta;

/// Cluster-scoped storage that claims can bind to, created by hand or by a provisioner.
#[kind(plural = "persistentvolumes", short = "pv", scope = Cluster, delete_returns_object, generation = false, metadata = whole)]
#[versions(v1(introduced = "1.0"))]
#[subresource(status, resets(spec))]
#[column("Capacity", spec.capacity.storage)]
#[column("Access Modes", by_hand = persistent_volume_access_modes, reads(spec.accessModes), "How the volume may be mounted.")]
#[column("Reclaim Policy", spec.persistentVolumeReclaimPolicy)]
#[column("Status", by_hand = persistent_volume_status, reads(metadata.deletionTimestamp, status.phase), "Phase of the volume, or that it is being deleted.")]
#[column("Claim", by_hand = persistent_volume_claim, reads(spec.claimRef), "Namespace and name of the claim that it is bound to.")]
#[column("StorageClass", by_hand = persistent_volume_storage_class, reads(metadata.annotations, spec.storageClassName), "Storage class of the volume.")]
#[column("VolumeAttributesClass", spec.volumeAttributesClassName or "<unset>")]
#[column("Reason", status.reason)]
#[column("Age", age)]
#[column("VolumeMode", spec.volumeMode or "<unset>", priority = 1)]
#[default(status.phase = Pending)]
#[default(spec.persistentVolumeReclaimPolicy = Retain)]
#[default(spec.volumeMode = Filesystem)]
#[strategy(create = create_volume, update = update_volume, warnings = warn_volume)]
#[check(
    self,
    choose(any_values_of_nodes, was(not(holds(spec.nodeAffinity, below = known_values))))
)]
#[check(metadata.name, tell = object_name)]
#[check(spec, below, when(not(subresource = status)))]
#[check(metadata, by_hand = validate_cluster_metadata, when(update, not(subresource = status)))]
#[check(spec, below, when(update, not(subresource = status)))]
#[check(spec, below = change, when(update, not(subresource = status)))]
pub struct PersistentVolume {
    /// Name, labels and finalizers of the volume; no namespace applies.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Capacity, access modes and backing storage of the volume.
    #[field(2)]
    pub spec: PersistentVolumeSpec,

    /// Current phase of the volume, maintained by the control plane.
    #[field(3)]
    pub status: PersistentVolumeStatus,
}

/// Full definition of a piece of cluster storage.
#[default(by_hand = default_persistent_volume_spec)]
#[check(
    claimRef,
    forbidden = "may not be specified in the context of inline volumes",
    when(part(inline))
)]
#[check(
    capacity,
    forbidden = "may not be specified in the context of inline volumes",
    when(part(inline))
)]
#[check(
    csi,
    missing = "has to be specified in the context of inline volumes",
    when(part(inline), unset(csi))
)]
#[check(accessModes, filled, when(part(default, inline)))]
#[check(
    accessModes,
    each(at(".", one_of(ReadOnlyMany, ReadWriteMany, ReadWriteOnce, ReadWriteOncePod))),
    when(part(default, inline))
)]
#[check(
    accessModes,
    forbidden = "may not use ReadWriteOncePod with other access modes",
    when(
        part(default, inline),
        accessModes = ReadWriteOncePod,
        accessModes = (ReadOnlyMany, ReadWriteMany, ReadWriteOnce)
    )
)]
#[check(capacity, filled)]
#[check(
    capacity,
    unsupported(storage),
    when(not(all(single(capacity), set(capacity.storage))))
)]
#[check(capacity, each(min(0, "must be a valid resource quantity"), positive))]
#[check(persistentVolumeReclaimPolicy, optional, one_of(Delete, Recycle, Retain))]
#[check(
    persistentVolumeReclaimPolicy,
    forbidden = "may only be Retain in the context of inline volumes",
    when(part(inline), not(persistentVolumeReclaimPolicy = Retain))
)]
#[check(nodeAffinity, below)]
#[check(
    nodeAffinity,
    forbidden = "may not be specified in the context of inline volumes",
    when(part(inline))
)]
#[check(
    hostPath,
    member = "may not specify more than 1 volume type",
    below,
    when(part(default, inline))
)]
#[check(
    gcePersistentDisk,
    member = "may not specify more than 1 volume type",
    at(persistentDisk, below),
    when(part(default, inline))
)]
#[check(
    awsElasticBlockStore,
    member = "may not specify more than 1 volume type",
    below,
    when(part(default, inline))
)]
#[check(
    glusterfs,
    member = "may not specify more than 1 volume type",
    below,
    when(part(default, inline))
)]
#[check(
    flocker,
    member = "may not specify more than 1 volume type",
    below,
    when(part(default, inline))
)]
#[check(
    nfs,
    member = "may not specify more than 1 volume type",
    below,
    when(part(default, inline))
)]
#[check(
    rbd,
    member = "may not specify more than 1 volume type",
    below,
    when(part(default, inline))
)]
#[check(
    quobyte,
    member = "may not specify more than 1 volume type",
    below,
    when(part(default, inline))
)]
#[check(
    cephfs,
    at("cephFS", member = "may not specify more than 1 volume type"),
    below,
    when(part(default, inline))
)]
#[check(
    iscsi,
    member = "may not specify more than 1 volume type",
    below,
    when(part(default, inline))
)]
#[check(
    cinder,
    member = "may not specify more than 1 volume type",
    below,
    when(part(default, inline))
)]
#[check(fc, member = "may not specify more than 1 volume type", below, when(part(default, inline)))]
#[check(flexVolume, member, below, when(part(default, inline)))]
#[check(
    azureFile,
    member = "may not specify more than 1 volume type",
    below,
    when(part(default, inline))
)]
#[check(
    vsphereVolume,
    member = "may not specify more than 1 volume type",
    below,
    when(part(default, inline))
)]
#[check(
    photonPersistentDisk,
    member = "may not specify more than 1 volume type",
    below,
    when(part(default, inline))
)]
#[check(
    portworxVolume,
    member = "may not specify more than 1 volume type",
    below,
    when(part(default, inline))
)]
#[check(
    azureDisk,
    member = "may not specify more than 1 volume type",
    below,
    when(part(default, inline))
)]
#[check(
    scaleIO,
    member = "may not specify more than 1 volume type",
    below,
    when(part(default, inline))
)]
#[check(
    local,
    member = "may not specify more than 1 volume type",
    below,
    when(part(default, inline))
)]
#[check(
    nodeAffinity,
    missing = "Local volume requires node affinity",
    when(part(default, inline), member(local), unset(nodeAffinity))
)]
#[check(
    storageos,
    member = "may not specify more than 1 volume type",
    below,
    when(part(default, inline))
)]
#[check(
    csi,
    member = "may not specify more than 1 volume type",
    below,
    when(part(default, inline))
)]
#[check(self, missing = "must specify a volume type", when(part(default, inline), no_member))]
#[check(
    self,
    by_hand = validate_recycled_root,
    when(part(default, inline), persistentVolumeReclaimPolicy = Recycle)
)]
#[check(storageClassName, optional, name = dns1123_subdomain)]
#[check(
    storageClassName,
    forbidden = "may not be specified in the context of inline volumes",
    when(part(inline))
)]
#[check(volumeMode, one_of(Block, Filesystem))]
#[check(
    volumeMode,
    forbidden = "may not specify volumeMode other than Filesystem in the context of inline volumes",
    when(part(inline), not(volumeMode = Filesystem))
)]
#[check(
    volumeAttributesClassName,
    missing = "an empty string is disallowed",
    when(part(default, inline), set(volumeAttributesClassName), volumeAttributesClassName = "")
)]
#[check(
    volumeAttributesClassName,
    name = dns1123_subdomain,
    when(part(default, inline), not(volumeAttributesClassName = ""))
)]
#[check(
    csi,
    missing = "has to be specified when using volumeAttributesClassName",
    when(part(default, inline), set(volumeAttributesClassName), unset(csi))
)]
#[check(self, by_hand = validate_source_change, when(part(change)))]
#[check(volumeMode, at("/volumeMode", immutable), when(part(change)))]
#[check(
    self,
    by_hand = validate_affinity_change,
    when(part(change), was(set(nodeAffinity)), not(gate(MutablePVNodeAffinity)))
)]
#[check(
    volumeAttributesClassName,
    unchanged = "update from non-nil value to nil is forbidden",
    when(part(change), unset(volumeAttributesClassName))
)]
pub struct PersistentVolumeSpec {
    /// Size offered, keyed by `storage`.
    #[field(1)]
    pub capacity: Map<String, Quantity>,

    /// Inlined choice of backing storage.
    #[field(2, inline)]
    pub persistent_volume_source: PersistentVolumeSource,

    /// Ways this volume is able to be mounted.
    #[field(3, list = atomic)]
    pub access_modes: Vec<PersistentVolumeAccessMode>,

    /// Claim this volume is bound to, or reserved for when preset.
    #[field(4, structure = granular)]
    pub claim_ref: Option<ObjectReference>,

    /// Treatment after claim deletion: `Retain` for manual volumes, usually `Delete` for provisioned ones.
    #[field(5)]
    pub persistent_volume_reclaim_policy: PersistentVolumeReclaimPolicy,

    /// Class the volume belongs to; only claims asking for it can bind.
    #[field(6)]
    pub storage_class_name: String,

    /// Flags such as `ro` or `soft` passed to mount unvalidated; bad ones break mounting.
    #[field(7, list = atomic)]
    pub mount_options: Vec<String>,

    /// Whether consumers get a filesystem (default) or a raw `Block` device.
    #[field(8)]
    pub volume_mode: Option<PersistentVolumeMode>,

    /// Nodes that can reach the volume, steering where its pods are scheduled.
    #[field(9)]
    pub node_affinity: Option<VolumeNodeAffinity>,

    /// Attributes class in force on the volume, matched during binding.
    #[field(10, gate = VolumeAttributesClass)]
    pub volume_attributes_class_name: Option<String>,
}

/// Backing storage of a PersistentVolume; only one type may be set.
pub struct PersistentVolumeSource {
    /// Disk in Google Compute Engine; handled by the `pd.csi.storage.gke.io` driver.
    #[field(1, deprecated)]
    pub gce_persistent_disk: Option<GCEPersistentDiskVolumeSource>,

    /// Amazon EBS disk; handled by the `ebs.csi.aws.com` driver.
    #[field(2, deprecated)]
    pub aws_elastic_block_store: Option<AWSElasticBlockStoreVolumeSource>,

    /// Directory on a node, meant for single-node testing only.
    #[field(3)]
    pub host_path: Option<HostPathVolumeSource>,

    /// GlusterFS share; unsupported since v1.26.
    #[field(4, deprecated)]
    pub glusterfs: Option<GlusterfsPersistentVolumeSource>,

    /// Export on an NFS server.
    #[field(5)]
    pub nfs: Option<NFSVolumeSource>,

    /// Ceph block image; in-tree support ended with v1.31.
    #[field(6, deprecated)]
    pub rbd: Option<RBDPersistentVolumeSource>,

    /// LUN reached over the network by iSCSI.
    #[field(7)]
    pub iscsi: Option<ISCSIPersistentVolumeSource>,

    /// OpenStack block storage; handled by the `cinder.csi.openstack.org` driver.
    #[field(8, deprecated)]
    pub cinder: Option<CinderPersistentVolumeSource>,

    /// CephFS share; in-tree support ended with v1.31.
    #[field(9, deprecated)]
    pub cephfs: Option<CephFSPersistentVolumeSource>,

    /// LUN reached over Fibre Channel.
    #[field(10)]
    pub fc: Option<FCVolumeSource>,

    /// Flocker dataset; no longer supported.
    #[field(11, deprecated)]
    pub flocker: Option<FlockerVolumeSource>,

    /// Storage from an exec-based FlexVolume plugin; deprecated.
    #[field(12, deprecated)]
    pub flex_volume: Option<FlexPersistentVolumeSource>,

    /// Azure Files share; handled by the `file.csi.azure.com` driver.
    #[field(13, deprecated)]
    pub azure_file: Option<AzureFilePersistentVolumeSource>,

    /// VMware virtual disk; handled by the `csi.vsphere.vmware.com` driver.
    #[field(14, deprecated)]
    pub vsphere_volume: Option<VsphereVirtualDiskVolumeSource>,

    /// Quobyte volume; no longer supported.
    #[field(15, deprecated)]
    pub quobyte: Option<QuobyteVolumeSource>,

    /// Azure managed disk; handled by the `disk.csi.azure.com` driver.
    #[field(16, deprecated)]
    pub azure_disk: Option<AzureDiskVolumeSource>,

    /// Disk of the defunct Photon Controller platform.
    #[field(17, deprecated)]
    pub photon_persistent_disk: Option<PhotonPersistentDiskVolumeSource>,

    /// Portworx volume; handled by the `pxd.portworx.com` driver.
    #[field(18, deprecated)]
    pub portworx_volume: Option<PortworxVolumeSource>,

    /// Dell ScaleIO volume; no longer supported.
    #[field(19, deprecated)]
    pub scale_io: Option<ScaleIOPersistentVolumeSource>,

    /// Disk attached to one node; requires node affinity on the volume.
    #[field(20)]
    pub local: Option<LocalVolumeSource>,

    /// StorageOS volume; no longer supported.
    #[field(21, deprecated)]
    pub storageos: Option<StorageOSPersistentVolumeSource>,

    /// Volume served by an external CSI driver, the recommended choice.
    #[field(22)]
    pub csi: Option<CSIPersistentVolumeSource>,
}

/// How many nodes or pods may mount a volume, and whether for writing.
pub enum PersistentVolumeAccessMode {
    ReadWriteOnce,
    ReadOnlyMany,
    ReadWriteMany,
    ReadWriteOncePod,
}

/// Fate of a volume after its claim is gone; `Recycle` is deprecated.
pub enum PersistentVolumeReclaimPolicy {
    Recycle,
    Delete,
    Retain,
}

/// Whether a volume is consumed with a filesystem or as a raw device.
pub enum PersistentVolumeMode {
    Block,
    Filesystem,
}

/// Restricts which nodes can use a volume.
#[check(required, required = "must specify required node constraints", below)]
#[check(
    required.nodeSelectorTerms,
    each(field(matchExpressions, each(field(values, each(format = label_value))))),
    when(part(known_values))
)]
pub struct VolumeNodeAffinity {
    /// Node terms that must match for a volume to be accessible.
    #[field(1)]
    pub required: Option<NodeSelector>,
}

/// Observed lifecycle of a PersistentVolume.
pub struct PersistentVolumeStatus {
    /// Moves through `Available`, `Bound`, `Released` and so on, following claim binding.
    #[field(1)]
    pub phase: PersistentVolumePhase,

    /// Explanation of the present phase for human readers.
    #[field(2)]
    pub message: String,

    /// Short CamelCase token accompanying a failure.
    #[field(3)]
    pub reason: String,

    /// When the volume most recently moved between phases.
    #[field(4)]
    pub last_phase_transition_time: Option<Time>,
}

/// Where a volume is in its cycle from unbound to released.
pub enum PersistentVolumePhase {
    Pending,
    Available,
    Bound,
    Released,
    Failed,
}
