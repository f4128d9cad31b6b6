use crate::core::PersistentVolumeSpec;
use crate::meta::ObjectMeta;

/// Intent to attach or detach a volume on a node, handled by a CSI attacher.
#[kind(
    plural = "volumeattachments",
    scope = Cluster,
    unconditional_update = false,
    delete_returns_object,
    generation = false,
    metadata = whole
)]
#[versions(
    v1(introduced = "1.13"),
    v1beta1(unserved, introduced = "1.10", deprecated = "1.19", replacement = "storage.k8s.io/v1 VolumeAttachment"),
    v1alpha1(introduced = "1.9", deprecated = "1.21", replacement = "storage.k8s.io/v1 VolumeAttachment")
)]
#[subresource(status)]
#[column("Attacher", spec.attacher, format = "name")]
#[column("PV", spec.source.persistentVolumeName or "")]
#[column("Node", spec.nodeName)]
#[column("Attached", boolean, status.attached)]
#[column("Age", age)]
#[check(spec, below)]
#[check(status, below)]
#[check(spec.source.persistentVolumeName, name = dns1123_subdomain)]
#[check(spec, immutable)]
pub struct VolumeAttachment {
    /// Identity of the attachment; deleting it requests a detach.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Volume, node and driver involved.
    #[field(2, required)]
    pub spec: VolumeAttachmentSpec,

    /// Result of the attach or detach operation.
    #[field(3)]
    pub status: VolumeAttachmentStatus,
}

/// Names what to attach, where, and by which driver; immutable.
#[check(attacher, format = csi_driver_name)]
#[check(source, below)]
#[check(nodeName, name = dns1123_subdomain)]
pub struct VolumeAttachmentSpec {
    /// CSI driver responsible for carrying out the operation.
    #[field(1, required)]
    pub attacher: String,

    /// Volume that should be attached.
    #[field(2, required)]
    pub source: VolumeAttachmentSource,

    /// Node to which the volume gets attached.
    #[field(3, required)]
    pub node_name: String,
}

/// Volume to be attached; set exactly one field.
#[check(
    self,
    missing = "must specify exactly one of inlineVolumeSpec and persistentVolumeName",
    when(none(inlineVolumeSpec, persistentVolumeName))
)]
#[check(
    self,
    forbidden = "must specify exactly one of inlineVolumeSpec and persistentVolumeName",
    when(many(inlineVolumeSpec, persistentVolumeName))
)]
#[check(
    persistentVolumeName,
    missing = "must specify non empty persistentVolumeName",
    when(unset(inlineVolumeSpec), set(persistentVolumeName), persistentVolumeName = "")
)]
#[check(inlineVolumeSpec, below = inline, when(unset(persistentVolumeName)))]
pub struct VolumeAttachmentSource {
    /// PersistentVolume to attach, by name.
    #[field(1)]
    pub persistent_volume_name: Option<String>,

    /// Full volume definition, used when migrating in-tree inline volumes to CSI.
    #[field(2)]
    pub inline_volume_spec: Option<PersistentVolumeSpec>,
}

/// Reported progress of an attachment.
#[check(attachmentMetadata, max_total = 262144)]
#[check(attachError, below)]
#[check(detachError, below)]
pub struct VolumeAttachmentStatus {
    /// True once the volume is usable on the node; set by the attacher.
    #[field(1, required)]
    pub attached: bool,

    /// Driver output from attaching, handed to later mount calls.
    #[field(2)]
    pub attachment_metadata: Map<String, String>,

    /// Latest failure while attaching, cleared upon success.
    #[field(3)]
    pub attach_error: Option<VolumeError>,

    /// Latest failure while detaching, cleared upon success.
    #[field(4)]
    pub detach_error: Option<VolumeError>,
}

/// Records when and why a volume operation failed.
#[check(self, by_hand = validate_message)]
#[check(errorCode, range(0, 2147483647))]
pub struct VolumeError {
    /// Moment at which the failure occurred.
    #[field(1, always)]
    pub time: Time,

    /// Failure text, possibly logged, so drivers must keep secrets out.
    #[field(2)]
    pub message: String,

    /// Numeric gRPC status, for example 8 for exhausted resources.
    #[field(3, gate = MutableCSINodeAllocatableCount)]
    pub error_code: Option<i32>,
}
