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

    /// Requires the plugin to attach and mount without write access.
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
