/// Named storage that containers of a pod can mount.
#[default(by_hand = default_volume)]
#[check(emptyDir, member = "may not specify more than 1 volume type", below)]
#[check(hostPath, member = "may not specify more than 1 volume type", below)]
#[check(gitRepo, member = "may not specify more than 1 volume type", below)]
#[check(
    gcePersistentDisk,
    member = "may not specify more than 1 volume type",
    at(persistentDisk, below)
)]
#[check(awsElasticBlockStore, member = "may not specify more than 1 volume type", below)]
#[check(secret, member = "may not specify more than 1 volume type", below)]
#[check(nfs, member = "may not specify more than 1 volume type", below)]
#[check(iscsi, member = "may not specify more than 1 volume type", below)]
#[check(self, by_hand = validate_portal_length, when(set(iscsi.initiatorName)))]
#[check(glusterfs, member = "may not specify more than 1 volume type", below)]
#[check(flocker, member = "may not specify more than 1 volume type", below)]
#[check(persistentVolumeClaim, member = "may not specify more than 1 volume type", below)]
#[check(rbd, member = "may not specify more than 1 volume type", below)]
#[check(cinder, member = "may not specify more than 1 volume type", below)]
#[check(cephfs, at("cephFS", member = "may not specify more than 1 volume type"), below)]
#[check(quobyte, member = "may not specify more than 1 volume type", below)]
#[check(downwardAPI, at("downwarAPI", member = "may not specify more than 1 volume type"), below)]
#[check(fc, member = "may not specify more than 1 volume type", below)]
#[check(flexVolume, member = "may not specify more than 1 volume type", below)]
#[check(configMap, member = "may not specify more than 1 volume type", below)]
#[check(azureFile, member = "may not specify more than 1 volume type", below)]
#[check(vsphereVolume, member = "may not specify more than 1 volume type", below)]
#[check(photonPersistentDisk, member = "may not specify more than 1 volume type", below)]
#[check(portworxVolume, member = "may not specify more than 1 volume type", below)]
#[check(azureDisk, member = "may not specify more than 1 volume type", below)]
#[check(storageos, member = "may not specify more than 1 volume type", below)]
#[check(projected, member = "may not specify more than 1 volume type", below)]
#[check(scaleIO, member = "may not specify more than 1 volume type", below)]
#[check(csi, member = "may not specify more than 1 volume type", below)]
#[check(ephemeral, member = "may not specify more than 1 volume type", below)]
#[check(self, by_hand = validate_generated_claim, when(member(ephemeral)))]
#[check(image, member = "may not specify more than 1 volume type", below)]
#[check(self, missing = "must specify a volume type", when(no_member))]
#[check(name, required, name = dns1123_label)]
#[check(
    self,
    below,
    field(name, unnoted = volumes),
    valid,
    field(name, note = volumes),
    below = block,
    when(part(of_pod))
)]
#[check(
    name,
    note = block_volumes,
    when(part(block), any(set(persistentVolumeClaim), set(ephemeral)))
)]
#[check(
    persistentVolumeClaim.claimName,
    unnoted(
        made_claims,
        "must not reference a PVC that gets created for an ephemeral volume"
    ),
    when(part(of_pod))
)]
pub struct Volume {
    /// DNS label by which mounts refer to the volume.
    #[field(1, required)]
    pub name: String,

    /// Inlined choice of where the storage comes from; an empty directory by default.
    #[field(2, inline)]
    pub volume_source: VolumeSource,
}

/// Where a pod volume's content comes from; only one may be set.
pub struct VolumeSource {
    /// File or directory from the node; avoid where possible for security.
    #[field(1)]
    pub host_path: Option<HostPathVolumeSource>,

    /// Temporary directory living as long as the pod.
    #[field(2)]
    pub empty_dir: Option<EmptyDirVolumeSource>,

    /// Google Compute Engine disk; deprecated in favour of CSI.
    #[field(3, deprecated)]
    pub gce_persistent_disk: Option<GCEPersistentDiskVolumeSource>,

    /// Amazon EBS disk; deprecated in favour of CSI.
    #[field(4, deprecated)]
    pub aws_elastic_block_store: Option<AWSElasticBlockStoreVolumeSource>,

    /// Git clone; deprecated, use an init container with `emptyDir` instead.
    #[field(5, deprecated)]
    pub git_repo: Option<GitRepoVolumeSource>,

    /// Files made from a Secret.
    #[field(6)]
    pub secret: Option<SecretVolumeSource>,

    /// Share mounted from an NFS server.
    #[field(7)]
    pub nfs: Option<NFSVolumeSource>,

    /// LUN of an iSCSI target, attached to the pod's node.
    #[field(8)]
    pub iscsi: Option<ISCSIVolumeSource>,

    /// GlusterFS share; not usable since v1.26.
    #[field(9, deprecated)]
    pub glusterfs: Option<GlusterfsVolumeSource>,

    /// Storage bound to a claim in the pod's namespace.
    #[field(10)]
    pub persistent_volume_claim: Option<PersistentVolumeClaimVolumeSource>,

    /// Ceph RBD image; in-tree plugin gone since v1.31.
    #[field(11, deprecated)]
    pub rbd: Option<RBDVolumeSource>,

    /// Volume from a FlexVolume plugin; deprecated, prefer CSI.
    #[field(12, deprecated)]
    pub flex_volume: Option<FlexVolumeSource>,

    /// OpenStack Cinder disk; deprecated in favour of CSI.
    #[field(13, deprecated)]
    pub cinder: Option<CinderVolumeSource>,

    /// CephFS mount; in-tree plugin gone since v1.31.
    #[field(14, deprecated)]
    pub cephfs: Option<CephFSVolumeSource>,

    /// Flocker dataset; plugin no longer exists.
    #[field(15, deprecated)]
    pub flocker: Option<FlockerVolumeSource>,

    /// Files made from the pod's own fields.
    #[field(16)]
    pub downward_api: Option<DownwardAPIVolumeSource>,

    /// Fibre Channel LUN attached to the pod's node.
    #[field(17)]
    pub fc: Option<FCVolumeSource>,

    /// Azure Files share; deprecated in favour of CSI.
    #[field(18, deprecated)]
    pub azure_file: Option<AzureFileVolumeSource>,

    /// Files made from a ConfigMap.
    #[field(19)]
    pub config_map: Option<ConfigMapVolumeSource>,

    /// Virtual disk from vSphere; deprecated in favour of CSI.
    #[field(20, deprecated)]
    pub vsphere_volume: Option<VsphereVirtualDiskVolumeSource>,

    /// Quobyte volume; plugin no longer exists.
    #[field(21, deprecated)]
    pub quobyte: Option<QuobyteVolumeSource>,

    /// Azure data disk; deprecated in favour of CSI.
    #[field(22, deprecated)]
    pub azure_disk: Option<AzureDiskVolumeSource>,

    /// Photon Controller disk; plugin no longer exists.
    #[field(23, deprecated)]
    pub photon_persistent_disk: Option<PhotonPersistentDiskVolumeSource>,

    /// Several sources merged into one directory.
    #[field(26)]
    pub projected: Option<ProjectedVolumeSource>,

    /// Portworx volume; deprecated in favour of CSI.
    #[field(24, deprecated)]
    pub portworx_volume: Option<PortworxVolumeSource>,

    /// ScaleIO volume; plugin no longer exists.
    #[field(25, deprecated)]
    pub scale_io: Option<ScaleIOVolumeSource>,

    /// StorageOS volume; plugin no longer exists.
    #[field(27, deprecated)]
    pub storageos: Option<StorageOSVolumeSource>,

    /// Inline ephemeral volume handled by a CSI driver.
    #[field(28)]
    pub csi: Option<CSIVolumeSource>,

    /// Claim generated for this pod and deleted with it.
    #[field(29)]
    pub ephemeral: Option<EphemeralVolumeSource>,

    /// Content of an OCI image or artifact, mounted read-only.
    #[field(30)]
    pub image: Option<ImageVolumeSource>,
}

/// Scratch directory created with the pod and erased when the pod goes away.
#[check(
    sizeLimit,
    refused = "SizeLimit field must be a valid resource quantity",
    when(not(holds(sizeLimit, not_negative)))
)]
pub struct EmptyDirVolumeSource {
    /// Backing store: empty string uses node disk, `Memory` uses tmpfs counted against memory limits.
    #[field(1)]
    pub medium: StorageMedium,

    /// Cap on local space for the volume; exceeding it gets the pod evicted.
    #[field(2)]
    pub size_limit: Option<Quantity>,
}

/// Backing store for an `emptyDir`: node disk when empty, tmpfs for `Memory`, or huge pages.
#[open]
pub enum StorageMedium {
    #[value("")]
    Default,
    Memory,
    HugePages,
    #[value("HugePages-")]
    HugePagesPrefix,
}

/// Deprecated, insecure volume prefilled by cloning a Git repository; disabled by default.
#[deprecated]
#[check(repository, filled)]
#[check(directory, format = relative_path)]
pub struct GitRepoVolumeSource {
    /// Clone URL of the Git repository.
    #[field(1, required)]
    pub repository: String,

    /// Commit hash to check out after cloning.
    #[field(2)]
    pub revision: String,

    /// Subdirectory to clone into; `.` clones straight into the volume root.
    #[field(3)]
    pub directory: String,
}

/// Volume presenting Secret entries as files, kept in memory on the node.
#[check(secretName, filled)]
#[check(defaultMode, range(0, 511, "must be a number between 0 and 0777 (octal), both inclusive"))]
#[check(items, below)]
pub struct SecretVolumeSource {
    /// Secret to mount, located in the pod's namespace.
    #[field(1)]
    pub secret_name: String,

    /// Limits the mount to these keys with custom paths; all keys otherwise.
    #[field(2, list = atomic)]
    pub items: Vec<KeyToPath>,

    /// Permission bits for the files, `0644` by default; decimal in JSON.
    #[field(3, default_hidden = 420)]
    pub default_mode: Option<i32>,

    /// Lets the pod start without the Secret or the listed keys.
    #[field(4)]
    pub optional: Option<bool>,
}

/// Places a ConfigMap or Secret key at a chosen file path.
#[check(key, filled)]
#[check(path, filled, format = volume_path)]
#[check(mode, range(0, 511, "must be a number between 0 and 0777 (octal), both inclusive"))]
pub struct KeyToPath {
    /// Entry to take from the ConfigMap or Secret.
    #[field(1, required)]
    pub key: String,

    /// Relative target file within the volume; cannot be absolute or contain `..`.
    #[field(2, required)]
    pub path: String,

    /// File permission bits between 0 and 0777 that override the volume default.
    #[field(3)]
    pub mode: Option<i32>,
}

/// LUN on an iSCSI target mounted straight into a pod, without a PersistentVolume.
#[check(targetPortal, filled)]
#[check(iqn, required, format = iscsi_name_by_prefix)]
#[check(lun, range(0, 255))]
#[check(
    secretRef,
    missing = "",
    when(unset(secretRef), any(chapAuthDiscovery = true, chapAuthSession = true))
)]
#[check(initiatorName, at("initiatorname", format = iscsi_name_by_prefix))]
pub struct ISCSIVolumeSource {
    /// Primary portal to log in to, an IP with optional port (3260 by default).
    #[field(1, required)]
    pub target_portal: String,

    /// Qualified name (IQN) identifying which iSCSI target to use.
    #[field(2, required)]
    pub iqn: String,

    /// Which logical unit of the target to mount.
    #[field(3, required)]
    pub lun: i32,

    /// Named iSCSI interface on the node; `default` selects TCP transport.
    #[field(4, default = "default")]
    pub iscsi_interface: String,

    /// Type of filesystem expected on the LUN, falling back to `ext4`.
    #[field(5)]
    pub fs_type: String,

    /// When true the LUN is mounted without write access.
    #[field(6)]
    pub read_only: bool,

    /// Alternative portals for the target, used for multipathing.
    #[field(7, list = atomic)]
    pub portals: Vec<String>,

    /// Whether discovery must authenticate with CHAP.
    #[field(8)]
    pub chap_auth_discovery: bool,

    /// Whether sessions must authenticate with CHAP.
    #[field(11)]
    pub chap_auth_session: bool,

    /// Same-namespace Secret containing CHAP usernames and passwords.
    #[field(10)]
    pub secret_ref: Option<LocalObjectReference>,

    /// Overrides the node's initiator IQN for this connection.
    #[field(12)]
    pub initiator_name: Option<String>,
}

/// GlusterFS share mounted directly by a pod; no longer functional since v1.26.
#[check(endpoints, filled)]
#[check(path, filled)]
pub struct GlusterfsVolumeSource {
    /// Endpoints object, in the pod's namespace, with Gluster server IPs.
    #[field(1, required)]
    pub endpoints: String,

    /// Name of the Gluster share to mount.
    #[field(2, required)]
    pub path: String,

    /// Forbids writes to the Gluster share; defaults to false.
    #[field(3)]
    pub read_only: bool,
}

/// Makes a pod use the storage behind a claim.
#[check(claimName, filled)]
pub struct PersistentVolumeClaimVolumeSource {
    /// Claim to mount, from the pod's namespace.
    #[field(1, required)]
    pub claim_name: String,

    /// Applies read-only to every mount of the claim in this pod.
    #[field(2)]
    pub read_only: bool,
}

/// Ceph RBD image used directly by a pod; in-tree plugin gone since v1.31.
#[check(monitors, filled)]
#[check(image, filled)]
pub struct RBDVolumeSource {
    /// Addresses of the Ceph monitors serving the cluster.
    #[field(1, required, list = atomic)]
    pub monitors: Vec<String>,

    /// Which RBD image to mount.
    #[field(2, required)]
    pub image: String,

    /// Filesystem assumed on the image; defaults to `ext4`.
    #[field(3)]
    pub fs_type: String,

    /// Pool to find the image in, `rbd` when blank.
    #[field(4, default = "rbd")]
    pub pool: String,

    /// Ceph account used to log in; `admin` when blank.
    #[field(5, default = "admin")]
    pub user: String,

    /// Path of the keyring used unless a Secret is given.
    #[field(6, default = "/etc/ceph/keyring")]
    pub keyring: String,

    /// Secret in the pod's namespace with the Ceph key, replacing `keyring`.
    #[field(7)]
    pub secret_ref: Option<LocalObjectReference>,

    /// Set true for a mount without write permission.
    #[field(8)]
    pub read_only: bool,
}

/// Pod volume served by an exec-based FlexVolume plugin; deprecated, prefer CSI.
#[check(driver, filled)]
#[check(options, each_key(format = unreserved_key))]
pub struct FlexVolumeSource {
    /// Installed FlexVolume plugin that handles this volume.
    #[field(1, required)]
    pub driver: String,

    /// Desired filesystem, e.g. `ext4`; plugin decides when left empty.
    #[field(2)]
    pub fs_type: String,

    /// Secret in the pod's namespace holding credentials for the plugin.
    #[field(3)]
    pub secret_ref: Option<LocalObjectReference>,

    /// Mounts the plugin's volume without write access; false by default.
    #[field(4)]
    pub read_only: bool,

    /// Extra parameters handed straight to the plugin.
    #[field(5)]
    pub options: Map<String, String>,
}

/// OpenStack Cinder disk mounted straight into a pod; deprecated in favor of CSI.
#[check(volumeID, filled)]
#[check(secretRef.name, filled)]
pub struct CinderVolumeSource {
    /// Cinder volume id to mount in the pod.
    #[field(1, required)]
    pub volume_id: String,

    /// Filesystem on the pod's Cinder disk; default `ext4`.
    #[field(2)]
    pub fs_type: String,

    /// Mounts the Cinder disk into the pod without write access; default false.
    #[field(3)]
    pub read_only: bool,

    /// Secret in the pod's namespace with OpenStack connection parameters.
    #[field(4)]
    pub secret_ref: Option<LocalObjectReference>,
}

/// CephFS mounted straight into a pod; the in-tree driver has been removed.
#[check(monitors, filled)]
pub struct CephFSVolumeSource {
    /// Addresses of the Ceph monitors for the pod's mount.
    #[field(1, required, list = atomic)]
    pub monitors: Vec<String>,

    /// Directory within CephFS to mount in the pod; default `/`.
    #[field(2)]
    pub path: String,

    /// Ceph user for the pod's mount; default `admin`.
    #[field(3)]
    pub user: String,

    /// Node-local keyring path for Ceph; falls back to `/etc/ceph/user.secret`.
    #[field(4)]
    pub secret_file: String,

    /// Secret in the pod's namespace with the Ceph key; used rather than `secretFile`.
    #[field(5)]
    pub secret_ref: Option<LocalObjectReference>,

    /// Mounts CephFS into the pod without write access; default false.
    #[field(6)]
    pub read_only: bool,
}

/// Volume exposing the pod's own metadata and resources as files.
#[check(defaultMode, range(0, 511, "must be a number between 0 and 0777 (octal), both inclusive"))]
#[check(items, each(at("..", below)))]
pub struct DownwardAPIVolumeSource {
    /// List of files to create, each tied to a pod field.
    #[field(1, list = atomic)]
    pub items: Vec<DownwardAPIVolumeFile>,

    /// Permissions for files lacking their own mode; `0644` unless you change it.
    #[field(2, default_hidden = 420)]
    pub default_mode: Option<i32>,
}

/// A file whose content is taken from a pod field or container resource.
#[check(path, filled, format = volume_path)]
#[check(fieldRef, below = volume)]
#[check(
    self,
    invalid("resource", "fieldRef and resourceFieldRef can not be specified simultaneously"),
    when(set(fieldRef), set(resourceFieldRef))
)]
#[check(resourceFieldRef, below = volume, when(unset(fieldRef)))]
#[check(
    self,
    missing = "one of fieldRef and resourceFieldRef is required",
    when(none(fieldRef, resourceFieldRef))
)]
#[check(mode, range(0, 511, "must be a number between 0 and 0777 (octal), both inclusive"))]
pub struct DownwardAPIVolumeFile {
    /// Relative file location inside the volume; may not be absolute or contain `..`.
    #[field(1, required)]
    pub path: String,

    /// Pod metadata to write, e.g. `metadata.labels`; spec and status fields do not work here.
    #[field(2)]
    pub field_ref: Option<ObjectFieldSelector>,

    /// Container request or limit to write, covering CPU, memory, ephemeral storage and hugepages.
    #[field(3)]
    pub resource_field_ref: Option<ResourceFieldSelector>,

    /// Permission bits for this one file; falls back to the volume's `defaultMode`.
    #[field(4)]
    pub mode: Option<i32>,
}

/// Azure Files share mounted straight into a pod; deprecated in favor of CSI.
#[check(secretName, filled)]
#[check(shareName, filled)]
pub struct AzureFileVolumeSource {
    /// Secret in the pod's namespace with storage account name and key.
    #[field(1, required)]
    pub secret_name: String,

    /// Azure Files share to mount in the pod.
    #[field(2, required)]
    pub share_name: String,

    /// Mounts the share into the pod without write access; default false.
    #[field(3)]
    pub read_only: bool,
}

/// Volume that turns each ConfigMap entry into a file inside the container.
#[check(name, filled)]
#[check(defaultMode, range(0, 511, "must be a number between 0 and 0777 (octal), both inclusive"))]
#[check(items, below)]
pub struct ConfigMapVolumeSource {
    /// Names the ConfigMap to mount; it must share the pod's namespace.
    #[field(1, inline)]
    pub local_object_reference: LocalObjectReference,

    /// Limits the volume to chosen keys with custom file paths; omitted means all keys.
    #[field(2, list = atomic)]
    pub items: Vec<KeyToPath>,

    /// Permission bits applied to generated files, `0644` when unset; JSON requires decimal notation.
    #[field(3, default_hidden = 420)]
    pub default_mode: Option<i32>,

    /// When true, a missing ConfigMap or key does not block pod startup.
    #[field(4)]
    pub optional: Option<bool>,
}

/// ScaleIO volume used directly by a pod; plugin no longer available.
#[check(gateway, filled)]
#[check(system, filled)]
#[check(volumeName, filled)]
pub struct ScaleIOVolumeSource {
    /// Where the ScaleIO API gateway is reached.
    #[field(1, required)]
    pub gateway: String,

    /// Name under which ScaleIO knows the storage system.
    #[field(2, required)]
    pub system: String,

    /// Same-namespace Secret with ScaleIO credentials; logins fail without it.
    #[field(3, required)]
    pub secret_ref: Option<LocalObjectReference>,

    /// Whether gateway traffic is encrypted; false by default.
    #[field(4)]
    pub ssl_enabled: bool,

    /// Protection domain to use in ScaleIO.
    #[field(5)]
    pub protection_domain: String,

    /// Pool from which the volume's space comes.
    #[field(6)]
    pub storage_pool: String,

    /// Thin or thick provisioning, thin by default.
    #[field(7, default = "ThinProvisioned")]
    pub storage_mode: String,

    /// Existing volume in ScaleIO that the pod uses.
    #[field(8)]
    pub volume_name: String,

    /// Filesystem to mount from ScaleIO; `xfs` if left out.
    #[field(9, default = "xfs")]
    pub fs_type: String,

    /// True forbids writing to the ScaleIO volume.
    #[field(10)]
    pub read_only: bool,
}

/// StorageOS volume used directly by a pod; unsupported since v1.25.
#[check(volumeName, required, name = dns1123_label)]
#[check(volumeNamespace, optional, name = dns1123_label)]
#[check(secretRef.name, filled)]
pub struct StorageOSVolumeSource {
    /// Label of the StorageOS volume, unique in its StorageOS namespace.
    #[field(1)]
    pub volume_name: String,

    /// Scope of the volume within StorageOS; `default` ignores Kubernetes namespaces.
    #[field(2)]
    pub volume_namespace: String,

    /// Filesystem to mount from StorageOS, otherwise `ext4`.
    #[field(3)]
    pub fs_type: String,

    /// True prevents writing to the StorageOS volume.
    #[field(4)]
    pub read_only: bool,

    /// Same-namespace Secret containing StorageOS API credentials.
    #[field(5)]
    pub secret_ref: Option<LocalObjectReference>,
}

/// Ephemeral inline volume provided by a CSI driver for the pod's lifetime.
#[check(driver, format = csi_driver_name)]
#[check(nodePublishSecretRef.name, required, at("../name", name = dns1123_subdomain))]
pub struct CSIVolumeSource {
    /// CSI driver providing the inline volume; it must support ephemeral mode.
    #[field(1, required)]
    pub driver: String,

    /// Mounts the inline volume without write access; default false.
    #[field(2)]
    pub read_only: Option<bool>,

    /// Filesystem for the inline volume; the driver decides if unset.
    #[field(3)]
    pub fs_type: Option<String>,

    /// Driver-specific parameters for the inline volume.
    #[field(4)]
    pub volume_attributes: Map<String, String>,

    /// Secret in the pod's namespace passed to the driver when mounting.
    #[field(5)]
    pub node_publish_secret_ref: Option<LocalObjectReference>,
}

/// Volume backed by a claim that is created and deleted along with the pod.
#[check(volumeClaimTemplate, required, by_hand = validate_claim_template_of_pod)]
pub struct EphemeralVolumeSource {
    /// Blueprint for the claim, which gets named `<pod>-<volume>` and is owned by the pod.
    #[field(1)]
    pub volume_claim_template: Option<PersistentVolumeClaimTemplate>,
}

/// Mounts the content of an OCI image or artifact as a read-only volume.
#[check(reference, filled, when(option(in_pod)))]
#[check(pullPolicy, required, one_of(Always, IfNotPresent, Never))]
pub struct ImageVolumeSource {
    /// Image or artifact to mount, written like a container image name.
    #[field(1)]
    pub reference: String,

    /// Pull behaviour: `Always`, `Never` or `IfNotPresent`; `:latest` implies `Always`.
    #[field(2)]
    pub pull_policy: PullPolicy,
}
