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

    /// What follows claim deletion: `Retain` for manual volumes, usually `Delete` for provisioned ones.
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

/// GlusterFS-backed persistent volume; the in-tree plugin was removed in v1.26.
#[check(endpoints, filled)]
#[check(path, filled)]
#[check(
    endpointsNamespace,
    invalid = "if the endpointnamespace is set, it must be a valid namespace name",
    when(set(endpointsNamespace), endpointsNamespace = "")
)]
#[check(endpointsNamespace, name = dns1123_label, when(not(endpointsNamespace = "")))]
pub struct GlusterfsPersistentVolumeSource {
    /// Endpoints object listing the Gluster server addresses.
    #[field(1, required)]
    pub endpoints: String,

    /// Gluster volume to mount, by name.
    #[field(2, required)]
    pub path: String,

    /// Set true to mount the Gluster volume without write permission.
    #[field(3)]
    pub read_only: bool,

    /// Where the Endpoints object lives; the bound claim's namespace if blank.
    #[field(4)]
    pub endpoints_namespace: Option<String>,
}

/// Persistent volume on a Ceph RBD image; in-tree plugin gone since v1.31.
#[check(monitors, filled)]
#[check(image, filled)]
pub struct RBDPersistentVolumeSource {
    /// Ceph monitor addresses to contact.
    #[field(1, required, list = atomic)]
    pub monitors: Vec<String>,

    /// RBD image to map, by name.
    #[field(2, required)]
    pub image: String,

    /// Filesystem on the RBD image, such as `ext4`.
    #[field(3)]
    pub fs_type: String,

    /// Ceph pool containing the image; `rbd` by default.
    #[field(4, default = "rbd")]
    pub pool: String,

    /// Ceph user for authentication, `admin` unless overridden.
    #[field(5, default = "admin")]
    pub user: String,

    /// Keyring file on the node; `/etc/ceph/keyring` if unspecified.
    #[field(6, default = "/etc/ceph/keyring")]
    pub keyring: String,

    /// Secret with the Ceph key, in any namespace; beats `keyring`.
    #[field(7)]
    pub secret_ref: Option<SecretReference>,

    /// Maps the RBD image without write access.
    #[field(8)]
    pub read_only: bool,
}

/// Persistent volume on an iSCSI LUN, mountable read-write by one node at a time.
#[check(targetPortal, filled)]
#[check(self, by_hand = validate_target_length, when(set(initiatorName)))]
#[check(iqn, required, format = iscsi_name)]
#[check(lun, range(0, 255))]
#[check(
    secretRef,
    missing = "",
    when(unset(secretRef), any(chapAuthDiscovery = true, chapAuthSession = true))
)]
#[check(secretRef.name, filled)]
#[check(initiatorName, at("initiatorname", format = iscsi_name))]
pub struct ISCSIPersistentVolumeSource {
    /// Address of the iSCSI portal as `ip:port`; port 3260 is assumed when absent.
    #[field(1, required)]
    pub target_portal: String,

    /// Qualified name of the iSCSI target, starting with `iqn.`, `eui.` or `naa.`.
    #[field(2, required)]
    pub iqn: String,

    /// Unit number exported by the iSCSI target, 0 to 255.
    #[field(3, required)]
    pub lun: i32,

    /// Initiator transport interface; plain `default` means TCP.
    #[field(4, default = "default")]
    pub iscsi_interface: String,

    /// Filesystem on the LUN, e.g. `xfs`; `ext4` is used when empty.
    #[field(5)]
    pub fs_type: String,

    /// Forces a non-writable mount of the iSCSI volume.
    #[field(6)]
    pub read_only: bool,

    /// Further portal addresses, enabling multipath access to the same target.
    #[field(7, list = atomic)]
    pub portals: Vec<String>,

    /// Turns on CHAP login during target discovery.
    #[field(8)]
    pub chap_auth_discovery: bool,

    /// Turns on CHAP login for the data session.
    #[field(11)]
    pub chap_auth_session: bool,

    /// Secret with CHAP credentials; may be in a different namespace.
    #[field(10)]
    pub secret_ref: Option<SecretReference>,

    /// Initiator IQN to present instead of the node's configured one.
    #[field(12)]
    pub initiator_name: Option<String>,
}

/// OpenStack Cinder disk used as a PersistentVolume; deprecated in favor of CSI.
#[check(volumeID, filled)]
#[check(secretRef.name, filled)]
#[check(secretRef.namespace, filled)]
pub struct CinderPersistentVolumeSource {
    /// Cinder volume id backing the PersistentVolume.
    #[field(1, required)]
    pub volume_id: String,

    /// Filesystem on the persistent Cinder disk; default `ext4`.
    #[field(2)]
    pub fs_type: String,

    /// Mounts the persistent Cinder disk without write access; default false.
    #[field(3)]
    pub read_only: bool,

    /// Secret, in any namespace, with OpenStack connection parameters.
    #[field(4)]
    pub secret_ref: Option<SecretReference>,
}

/// CephFS mount used as a PersistentVolume; the in-tree driver has been removed.
#[check(monitors, filled)]
pub struct CephFSPersistentVolumeSource {
    /// Addresses of the Ceph monitors for the persistent volume.
    #[field(1, required, list = atomic)]
    pub monitors: Vec<String>,

    /// Directory within CephFS to mount for the volume; default `/`.
    #[field(2)]
    pub path: String,

    /// Ceph user for the persistent mount; default `admin`.
    #[field(3)]
    pub user: String,

    /// Keyring file on the node; default `/etc/ceph/user.secret`.
    #[field(4)]
    pub secret_file: String,

    /// Secret, in any namespace, with the Ceph key; used rather than `secretFile`.
    #[field(5)]
    pub secret_ref: Option<SecretReference>,

    /// Mounts the persistent CephFS volume without write access; default false.
    #[field(6)]
    pub read_only: bool,
}

/// Cluster-level volume served by a FlexVolume plugin; deprecated in favour of CSI.
#[check(driver, filled)]
#[check(options, each_key(format = unreserved_key))]
pub struct FlexPersistentVolumeSource {
    /// FlexVolume plugin to use, in `vendor/driver` form.
    #[field(1, required)]
    pub driver: String,

    /// Filesystem the plugin should mount; its own default applies if empty.
    #[field(2)]
    pub fs_type: String,

    /// Secret, in any namespace, with credentials passed to the plugin scripts.
    #[field(3)]
    pub secret_ref: Option<SecretReference>,

    /// Asks the plugin to attach and mount without write access.
    #[field(4)]
    pub read_only: bool,

    /// Plugin-specific key-value settings for the volume.
    #[field(5)]
    pub options: Map<String, String>,
}

/// Azure Files share used as a PersistentVolume; deprecated in favor of CSI.
#[check(secretName, filled)]
#[check(shareName, filled)]
#[check(secretNamespace, missing = "", when(set(secretNamespace), secretNamespace = ""))]
pub struct AzureFilePersistentVolumeSource {
    /// Secret with the Azure storage account name and key.
    #[field(1, required)]
    pub secret_name: String,

    /// Name of the Azure Files share.
    #[field(2, required)]
    pub share_name: String,

    /// Mounts the persistent share without write access; default false.
    #[field(3)]
    pub read_only: bool,

    /// Namespace of the credentials Secret; defaults to that of the claiming pod.
    #[field(4, always)]
    pub secret_namespace: Option<String>,
}

/// Persistent volume on Dell ScaleIO; in-tree plugin long removed.
#[check(gateway, filled)]
#[check(system, filled)]
#[check(volumeName, filled)]
pub struct ScaleIOPersistentVolumeSource {
    /// URL or address of the ScaleIO API gateway.
    #[field(1, required)]
    pub gateway: String,

    /// ScaleIO system the volume belongs to.
    #[field(2, required)]
    pub system: String,

    /// Secret holding the ScaleIO login; mandatory.
    #[field(3, required)]
    pub secret_ref: Option<SecretReference>,

    /// Uses TLS towards the gateway; off by default.
    #[field(4)]
    pub ssl_enabled: bool,

    /// ScaleIO protection domain the storage is in.
    #[field(5)]
    pub protection_domain: String,

    /// Storage pool inside the protection domain.
    #[field(6)]
    pub storage_pool: String,

    /// Provisioning style: `ThinProvisioned` (default) or `ThickProvisioned`.
    #[field(7, default = "ThinProvisioned")]
    pub storage_mode: String,

    /// Already created ScaleIO volume to mount.
    #[field(8)]
    pub volume_name: String,

    /// Filesystem on the ScaleIO volume, `xfs` by default.
    #[field(9, default = "xfs")]
    pub fs_type: String,

    /// Mounts the ScaleIO volume without write access.
    #[field(10)]
    pub read_only: bool,
}

/// Disk, partition or directory attached to one particular node.
#[check(path, filled, format = path_without_backsteps)]
pub struct LocalVolumeSource {
    /// Full node path of the directory or block device.
    #[field(1, required)]
    pub path: String,

    /// Filesystem for a block device path; detected automatically if omitted.
    #[field(2)]
    pub fs_type: Option<String>,
}

/// Persistent volume on StorageOS; unsupported since v1.25.
#[check(volumeName, required, name = dns1123_label)]
#[check(volumeNamespace, optional, name = dns1123_label)]
#[check(secretRef.name, filled)]
#[check(secretRef.namespace, filled)]
pub struct StorageOSPersistentVolumeSource {
    /// StorageOS volume to use, by name.
    #[field(1)]
    pub volume_name: String,

    /// StorageOS namespace of the volume; the Kubernetes one if blank.
    #[field(2)]
    pub volume_namespace: String,

    /// Filesystem on the StorageOS volume, `ext4` when unset.
    #[field(3)]
    pub fs_type: String,

    /// Mounts the StorageOS volume without write access.
    #[field(4)]
    pub read_only: bool,

    /// Secret with StorageOS API credentials; defaults are tried without it.
    #[field(5)]
    pub secret_ref: Option<ObjectReference>,
}

/// PersistentVolume backed by a Container Storage Interface driver.
#[check(driver, format = csi_driver_name)]
#[check(volumeHandle, filled)]
#[check(controllerPublishSecretRef, below)]
#[check(controllerExpandSecretRef, below)]
#[check(nodePublishSecretRef, below)]
#[check(nodeExpandSecretRef, below)]
pub struct CSIPersistentVolumeSource {
    /// CSI driver that serves the volume, e.g. `ebs.csi.aws.com`.
    #[field(1, required)]
    pub driver: String,

    /// Driver-side volume id, sent in every CSI call.
    #[field(2, required)]
    pub volume_handle: String,

    /// Attaches the CSI volume without write access; default false.
    #[field(3)]
    pub read_only: bool,

    /// Filesystem to mount, e.g. `ext4`; the driver decides if unset.
    #[field(4)]
    pub fs_type: String,

    /// Driver-specific parameters recorded for the volume.
    #[field(5)]
    pub volume_attributes: Map<String, String>,

    /// Secret for attaching and detaching the volume at the storage controller.
    #[field(6)]
    pub controller_publish_secret_ref: Option<SecretReference>,

    /// Secret for preparing the volume once per node.
    #[field(7)]
    pub node_stage_secret_ref: Option<SecretReference>,

    /// Secret for mounting the volume into a pod.
    #[field(8)]
    pub node_publish_secret_ref: Option<SecretReference>,

    /// Secret for growing the volume at the storage controller.
    #[field(9)]
    pub controller_expand_secret_ref: Option<SecretReference>,

    /// Secret for growing the filesystem on the node.
    #[field(10)]
    pub node_expand_secret_ref: Option<SecretReference>,
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
