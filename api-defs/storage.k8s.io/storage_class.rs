use crate::core::{PersistentVolumeReclaimPolicy, TopologySelectorTerm};
use crate::meta::ObjectMeta;

/// Template for provisioning PersistentVolumes on demand.
#[kind(plural = "storageclasses", short = "sc", scope = Cluster, delete_returns_object, metadata = whole)]
#[versions(
    v1(introduced = "1.6"),
    v1beta1(unserved, introduced = "1.4", deprecated = "1.19", replacement = "storage.k8s.io/v1 StorageClass")
)]
#[column("Name", by_hand = storage_class_name, reads(metadata.name, metadata.annotations), format = "name", "Name of the class, marked when it is the default one.")]
#[column("Provisioner", provisioner)]
#[column("ReclaimPolicy", reclaimPolicy or "Delete")]
#[column("VolumeBindingMode", volumeBindingMode or "Immediate")]
#[column("AllowVolumeExpansion", by_hand = storage_class_allow_volume_expansion, reads(allowVolumeExpansion), "Whether claims of the class may grow.")]
#[column("Age", age)]
#[strategy(warnings = warn_storage_class)]
#[check(provisioner, required, format = caseless_qualified_name)]
#[check(self, by_hand = validate_class_parameters)]
#[check(reclaimPolicy, one_of(Delete, Retain), when(not(reclaimPolicy = "")))]
#[check(volumeBindingMode, required, one_of(Immediate, WaitForFirstConsumer))]
#[check(self, by_hand = validate_class_topologies)]
#[check(metadata, by_hand = validate_whole_metadata_update, when(update))]
#[check(parameters, immutable)]
#[check(provisioner, immutable)]
#[check(reclaimPolicy, immutable)]
#[check(volumeBindingMode, immutable)]
pub struct StorageClass {
    /// Cluster-wide name and labels; annotation `storageclass.kubernetes.io/is-default-class` marks the default.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Plugin creating the volumes, such as `ebs.csi.aws.com`.
    #[field(2, required)]
    pub provisioner: String,

    /// Provisioner-specific options, like disk type; 512 entries at most.
    #[field(3)]
    pub parameters: Map<String, String>,

    /// Treatment of volumes after release: `Delete` by default, or `Retain`.
    #[field(4, default_hidden = Delete)]
    pub reclaim_policy: Option<PersistentVolumeReclaimPolicy>,

    /// Mount flags for created volumes, not validated; bad ones make mounts fail.
    #[field(5, list = atomic)]
    pub mount_options: Vec<String>,

    /// Permits growing claims of this class by editing their requested size.
    #[field(6)]
    pub allow_volume_expansion: Option<bool>,

    /// When to provision: at once, or after a pod using the claim is scheduled.
    #[field(7, default_hidden = Immediate)]
    pub volume_binding_mode: Option<VolumeBindingMode>,

    /// Confines provisioning to certain zones or other node topology values.
    #[field(8, list = atomic)]
    pub allowed_topologies: Vec<TopologySelectorTerm>,
}

/// Timing of volume provisioning relative to pod scheduling.
pub enum VolumeBindingMode {
    Immediate,
    WaitForFirstConsumer,
}
