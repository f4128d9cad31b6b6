/// Mounts an AWS EBS disk; deprecated in favor of the EBS CSI driver.
#[check(volumeID, filled)]
#[check(
    partition,
    min(0, "must be between 1 and 255, inclusive"),
    max(255, "must be between 1 and 255, inclusive")
)]
pub struct AWSElasticBlockStoreVolumeSource {
    /// EBS volume id, such as `vol-0abc123`, in the node's zone.
    #[field(1, required)]
    pub volume_id: String,

    /// Filesystem to mount on the EBS disk, e.g. `ext4` (default) or `xfs`.
    #[field(2)]
    pub fs_type: String,

    /// Partition number to mount; 0 or unset mounts the whole disk.
    #[field(3)]
    pub partition: i32,

    /// Mounts the EBS disk without write access; default false.
    #[field(4)]
    pub read_only: bool,
}

/// Mounts an Azure data disk; deprecated in favor of the Azure Disk CSI driver.
#[check(diskName, filled)]
#[check(diskURI, filled)]
#[check(cachingMode, one_of(None, ReadOnly, ReadWrite))]
#[check(kind, one_of(Dedicated, Managed, Shared))]
#[check(
    diskURI,
    unsupported(
        "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
    ),
    when(kind = Managed, not(begins(diskURI, "/subscriptions/")))
)]
#[check(
    diskURI,
    unsupported("https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"),
    when(set(kind), not(kind = Managed), not(begins(diskURI, "https://")))
)]
pub struct AzureDiskVolumeSource {
    /// Name of the data disk.
    #[field(1, required)]
    pub disk_name: String,

    /// Resource id of a managed disk, or the blob URL otherwise.
    #[field(2, required)]
    pub disk_uri: String,

    /// Host cache setting: `None`, `ReadOnly` or `ReadWrite` (default).
    #[field(3, default = ReadWrite)]
    pub caching_mode: Option<AzureDataDiskCachingMode>,

    /// Filesystem to mount on the Azure disk; default `ext4`.
    #[field(4, default = "ext4")]
    pub fs_type: Option<String>,

    /// Mounts the Azure disk without write access; default false.
    #[field(5, default = false)]
    pub read_only: Option<bool>,

    /// Disk flavor: `Shared` (default), `Dedicated` or `Managed`.
    #[field(6, default = Shared)]
    pub kind: Option<AzureDataDiskKind>,
}

/// Host caching setting of an Azure disk.
pub enum AzureDataDiskCachingMode {
    None,
    ReadOnly,
    ReadWrite,
}

/// Flavour of Azure disk; `Managed` is the modern one.
pub enum AzureDataDiskKind {
    Shared,
    Dedicated,
    Managed,
}

/// Fibre Channel LUN attached to the node and mounted into the pod.
#[check(
    targetWWNs,
    missing = "must specify either targetWWNs or wwids, but not both",
    when(unset(targetWWNs), unset(wwids))
)]
#[check(
    targetWWNs,
    invalid = "targetWWNs and wwids can not be specified simultaneously",
    when(set(targetWWNs), set(wwids))
)]
#[check(
    lun,
    required = "lun is required if targetWWNs is specified",
    min(0, "must be between 0 and 255, inclusive"),
    max(255, "must be between 0 and 255, inclusive"),
    when(set(targetWWNs))
)]
pub struct FCVolumeSource {
    /// World Wide Names of the Fibre Channel targets; combine with `lun`.
    #[field(1, list = atomic)]
    pub target_wwns: Vec<String>,

    /// Logical unit number on the target; required alongside `targetWWNs`.
    #[field(2)]
    pub lun: Option<i32>,

    /// Filesystem to mount, like `ext4` or `xfs`; `ext4` is assumed when blank.
    #[field(3)]
    pub fs_type: String,

    /// Blocks writes to the Fibre Channel volume when true.
    #[field(4)]
    pub read_only: bool,

    /// World Wide Identifiers of the volume, an alternative to `targetWWNs` plus `lun`.
    #[field(5, list = atomic)]
    pub wwids: Vec<String>,
}

/// Volume from the discontinued Flocker data manager; support was removed in v1.25.
#[check(
    self,
    missing = "one of datasetName and datasetUUID is required",
    when(none(datasetName, datasetUUID))
)]
#[check(
    self,
    invalid("resource", "datasetName and datasetUUID can not be specified simultaneously"),
    when(set(datasetName), set(datasetUUID))
)]
#[check(datasetName, format = text_without_slashes)]
pub struct FlockerVolumeSource {
    /// Flocker dataset picked by name; deprecated.
    #[field(1)]
    pub dataset_name: String,

    /// Flocker dataset picked by UUID.
    #[field(2)]
    pub dataset_uuid: String,
}

/// Google Compute Engine disk as a volume; in-tree type now redirected to CSI.
#[check(pdName, filled)]
#[check(
    partition,
    min(0, "must be between 1 and 255, inclusive"),
    max(255, "must be between 1 and 255, inclusive")
)]
pub struct GCEPersistentDiskVolumeSource {
    /// Existing disk in the same GCE project and zone as the node.
    #[field(1, required)]
    pub pd_name: String,

    /// Filesystem found on the disk; treated as `ext4` when not given.
    #[field(2)]
    pub fs_type: String,

    /// Disk partition to mount; 0 or unset uses the whole disk.
    #[field(3)]
    pub partition: i32,

    /// Mounts the GCE disk for reading only, letting many nodes share it.
    #[field(4)]
    pub read_only: bool,
}

/// Exposes a file or directory of the node's own filesystem; risky for untrusted pods.
#[check(path, required, format = path_without_backsteps)]
#[check(
    type,
    one_of("", BlockDevice, CharDevice, Directory, DirectoryOrCreate, File, FileOrCreate, Socket),
    when(set(path))
)]
pub struct HostPathVolumeSource {
    /// Location on the node; symbolic links are resolved.
    #[field(1, required)]
    pub path: String,

    /// Check or creation performed before mounting, e.g. `DirectoryOrCreate`; empty skips checks.
    #[field(2, default_hidden = Unset)]
    pub r#type: Option<HostPathType>,
}

/// Check made on a host path, optionally creating what is missing.
pub enum HostPathType {
    #[value("")]
    Unset,
    DirectoryOrCreate,
    Directory,
    FileOrCreate,
    File,
    Socket,
    CharDevice,
    BlockDevice,
}

/// Network filesystem export mounted into the pod.
#[check(server, filled)]
#[check(path, filled, format = absolute_path)]
pub struct NFSVolumeSource {
    /// Hostname or IP of the NFS server.
    #[field(1, required)]
    pub server: String,

    /// Exported directory on the NFS server.
    #[field(2, required)]
    pub path: String,

    /// Mounts the export without write permission; false unless specified.
    #[field(3)]
    pub read_only: bool,
}

/// Photon Controller disk; obsolete and unsupported.
#[check(pdID, filled)]
pub struct PhotonPersistentDiskVolumeSource {
    /// Identifier of the Photon disk.
    #[field(1, required)]
    pub pd_id: String,

    /// Filesystem expected on the Photon disk, `ext4` when blank.
    #[field(2)]
    pub fs_type: String,
}

/// Portworx volume, served nowadays by the Portworx CSI driver.
#[check(volumeID, filled)]
pub struct PortworxVolumeSource {
    /// Identifier of the Portworx volume.
    #[field(1, required)]
    pub volume_id: String,

    /// Filesystem on the Portworx volume, `ext4` or `xfs`.
    #[field(2)]
    pub fs_type: String,

    /// Mounts the Portworx volume without write access.
    #[field(3)]
    pub read_only: bool,
}

/// Quobyte network volume; unsupported since v1.25.
#[check(registry, required = "must be a host:port pair or multiple pairs separated by commas")]
#[check(
    tenant,
    missing = "must be a UUID and may not exceed a length of 64 characters",
    when(set(registry), not(holds(tenant, max_bytes = 64)))
)]
#[check(registry, optional, format = host_ports, when(holds(tenant, max_bytes = 64)))]
#[check(volume, filled)]
pub struct QuobyteVolumeSource {
    /// Quobyte registry addresses as comma-separated `host:port` pairs.
    #[field(1, required)]
    pub registry: String,

    /// Quobyte volume to mount, by name.
    #[field(2, required)]
    pub volume: String,

    /// Mounts the Quobyte volume without write access.
    #[field(3)]
    pub read_only: bool,

    /// User the mount is mapped to; the service account user by default.
    #[field(4)]
    pub user: String,

    /// Group the mount is mapped to; none by default.
    #[field(5)]
    pub group: String,

    /// Quobyte tenant owning a dynamically provisioned volume.
    #[field(6)]
    pub tenant: String,
}

/// Virtual disk on vSphere as a volume, redirected to the vSphere CSI driver.
#[check(volumePath, filled)]
pub struct VsphereVirtualDiskVolumeSource {
    /// Datastore path of the VMDK, e.g. `[ds1] volumes/disk.vmdk`.
    #[field(1, required)]
    pub volume_path: String,

    /// Filesystem on the VMDK, `ext4` unless stated.
    #[field(2)]
    pub fs_type: String,

    /// Storage policy (SPBM) profile, by name.
    #[field(3)]
    pub storage_policy_name: String,

    /// Identifier belonging to the named storage policy.
    #[field(4)]
    pub storage_policy_id: String,
}
