use crate::meta::{LabelSelector, ObjectMeta};

/// A user's request for storage, bound to exactly one PersistentVolume.
#[kind(plural = "persistentvolumeclaims", short = "pvc", scope = Namespaced, delete_returns_object, generation = false, metadata = both)]
#[versions(v1(introduced = "1.0"))]
#[subresource(status, resets(spec))]
#[column("Status", by_hand = persistent_volume_claim_status, reads(metadata.deletionTimestamp, status.phase), "Phase of the claim, or that it is being deleted.")]
#[column("Volume", spec.volumeName)]
#[column("Capacity", by_hand = persistent_volume_claim_capacity, reads(spec.volumeName, status.capacity), "Size of the volume that is bound.")]
#[column("Access Modes", by_hand = persistent_volume_claim_access_modes, reads(spec.volumeName, status.accessModes), "How the volume that is bound may be mounted.")]
#[column("StorageClass", by_hand = persistent_volume_claim_storage_class, reads(metadata.annotations, spec.storageClassName), "Requested storage class.")]
#[column("VolumeAttributesClass", spec.volumeAttributesClassName or "<unset>")]
#[column("Age", age)]
#[column("VolumeMode", spec.volumeMode or "<unset>", priority = 1)]
#[default(status.phase = Pending)]
#[strategy(create = create_claim, update = update_claim, warnings = warn_claim)]
#[check(self, choose(any_values_of_claims, was(not(holds(spec.selector, below)))))]
#[check(
    self,
    choose(
        any_api_group,
        was(any(set(spec.dataSource.apiGroup), set(spec.dataSourceRef.apiGroup)))
    )
)]
#[check(spec, below, when(not(subresource = status)))]
#[check(self, by_hand = validate_claim_change, when(update, not(subresource = status)))]
#[check(spec.volumeMode, at("/volumeMode", immutable), when(not(subresource = status)))]
#[check(
    spec.volumeAttributesClassName,
    unchanged = "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil",
    when(
        not(subresource = status),
        unset(spec.volumeAttributesClassName),
        was(set(status.currentVolumeAttributesClassName))
    )
)]
#[check(
    spec.volumeAttributesClassName,
    unchanged = "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil",
    when(
        not(subresource = status),
        set(spec.volumeAttributesClassName),
        spec.volumeAttributesClassName = "",
        was(set(status.currentVolumeAttributesClassName))
    )
)]
#[check(spec.accessModes, at("/Spec.accessModes", filled), when(subresource = status))]
#[check(
    status.capacity,
    each(min(0, "must be a valid resource quantity")),
    when(subresource = status)
)]
#[check(status, by_hand = validate_resize_statuses, when(subresource = status))]
#[check(
    status.allocatedResources,
    each(
        key(at(".", format = claim_resource_name)),
        valid,
        min(0, "must be a valid resource quantity")
    ),
    when(subresource = status)
)]
pub struct PersistentVolumeClaim {
    /// Claim name, namespace, labels and annotations.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Size, class and access wanted from the storage.
    #[field(2)]
    pub spec: PersistentVolumeClaimSpec,

    /// Binding phase and actual size of the storage obtained.
    #[field(3)]
    pub status: PersistentVolumeClaimStatus,
}

/// Requested storage properties; mostly immutable after creation.
#[check(accessModes, filled = "at least 1 access mode is required")]
#[check(self, choose(any_selector_value, option(any_values_of_claims)))]
#[check(selector, below)]
#[check(
    accessModes,
    each(at(".", one_of(ReadOnlyMany, ReadWriteMany, ReadWriteOnce, ReadWriteOncePod)))
)]
#[check(
    accessModes,
    forbidden = "may not use ReadWriteOncePod with other access modes",
    when(
        accessModes = ReadWriteOncePod,
        accessModes = (ReadOnlyMany, ReadWriteMany, ReadWriteOnce)
    )
)]
#[check(resources.requests.storage, at("../../resources[storage]", required, positive))]
#[check(storageClassName, name = dns1123_subdomain, when(not(storageClassName = "")))]
#[check(volumeMode, one_of(Block, Filesystem))]
#[check(dataSource, below)]
#[check(dataSourceRef, below)]
#[check(self, by_hand = validate_data_sources, when(set(dataSource), set(dataSourceRef)))]
#[check(
    volumeAttributesClassName,
    name = dns1123_subdomain,
    when(not(volumeAttributesClassName = ""))
)]
pub struct PersistentVolumeClaimSpec {
    /// Ways the volume must be mountable, e.g. `ReadWriteOnce`.
    #[field(1, list = atomic)]
    pub access_modes: Vec<PersistentVolumeAccessMode>,

    /// Restricts binding to volumes with these labels; not combinable with dynamic provisioning.
    #[field(4)]
    pub selector: Option<LabelSelector>,

    /// Minimum size wanted; may later be raised if the class allows expansion.
    #[field(2)]
    pub resources: VolumeResourceRequirements,

    /// Pins the claim to one PersistentVolume; filled in upon binding.
    #[field(3)]
    pub volume_name: String,

    /// Class to provision from; unset takes the default, an empty string disables provisioning.
    #[field(5)]
    pub storage_class_name: Option<String>,

    /// Either `Filesystem` (default) or `Block` for a raw device.
    #[field(6, default_hidden = Filesystem)]
    pub volume_mode: Option<PersistentVolumeMode>,

    /// Snapshot or claim to prefill from; kept in sync with `dataSourceRef` where possible.
    #[field(7)]
    pub data_source: Option<TypedLocalObjectReference>,

    /// Object to prefill the volume from, permitting any populator-supported kind.
    #[field(8)]
    pub data_source_ref: Option<TypedObjectReference>,

    /// VolumeAttributesClass to apply; changeable later, unlike the storage class.
    #[field(9, gate = VolumeAttributesClass)]
    pub volume_attributes_class_name: Option<String>,
}

/// Requested storage amounts.
#[default(by_hand = default_volume_resource_requirements)]
pub struct VolumeResourceRequirements {
    /// Largest size that may be provisioned; rarely enforced.
    #[field(1)]
    pub limits: Map<String, Quantity>,

    /// Smallest acceptable size, e.g. `storage: 10Gi`.
    #[field(2)]
    pub requests: Map<String, Quantity>,
}

/// Observed outcome of a storage request.
#[default(by_hand = default_persistent_volume_claim_status)]
pub struct PersistentVolumeClaimStatus {
    /// Binding stage: `Pending`, `Bound`, or `Lost` if the backing volume vanished.
    #[field(1)]
    pub phase: PersistentVolumeClaimPhase,

    /// Ways in which the bound volume can really be mounted.
    #[field(2, list = atomic)]
    pub access_modes: Vec<PersistentVolumeAccessMode>,

    /// Size provided, which may exceed the request.
    #[field(3)]
    pub capacity: Map<String, Quantity>,

    /// Ongoing resize or modification observations.
    #[field(4, list = map(type), patch = merge)]
    pub conditions: Vec<PersistentVolumeClaimCondition>,

    /// Size being worked towards during an expansion, for quota accounting.
    #[field(5)]
    pub allocated_resources: Map<String, Quantity>,

    /// Resize stage per resource; missing keys mean no resize is under way.
    #[field(7, map = granular, go_whole = "map[ResourceName]ClaimResourceStatus")]
    pub allocated_resource_statuses: Map<String, ClaimResourceStatus>,

    /// VolumeAttributesClass that is presently in effect.
    #[field(8, gate = VolumeAttributesClass)]
    pub current_volume_attributes_class_name: Option<String>,

    /// Progress of an attribute change; unset when none is running.
    #[field(9, gate = VolumeAttributesClass)]
    pub modify_volume_status: Option<ModifyVolumeStatus>,
}

/// Whether a claim is unbound, bound, or has lost its volume.
pub enum PersistentVolumeClaimPhase {
    Pending,
    Bound,
    Lost,
}

/// Observation about a claim, mostly concerning resizing or modification.
pub struct PersistentVolumeClaimCondition {
    /// Aspect covered, such as `FileSystemResizePending`.
    #[field(1, required)]
    pub r#type: PersistentVolumeClaimConditionType,

    /// Whether the aspect applies at present.
    #[field(2, required)]
    pub status: ConditionStatus,

    /// Last time the claim was checked for this aspect.
    #[field(3, always)]
    pub last_probe_time: Time,

    /// When the condition's status last changed over.
    #[field(4, always)]
    pub last_transition_time: Time,

    /// Compact token explaining why the state changed.
    #[field(5)]
    pub reason: String,

    /// Details intended for people, e.g. a driver error.
    #[field(6)]
    pub message: String,
}

/// Aspect of a claim, such as resizing, modification or lack of use.
#[open]
pub enum PersistentVolumeClaimConditionType {
    Resizing,
    FileSystemResizePending,
    ControllerResizeError,
    NodeResizeError,
    ModifyVolumeError,
    ModifyingVolume,
    Unused,
}

/// Stage a claim's expansion is at, on controller or node side.
pub enum ClaimResourceStatus {
    ControllerResizeInProgress,
    ControllerResizeInfeasible,
    NodeResizePending,
    NodeResizeInProgress,
    NodeResizeInfeasible,
}

/// Progress of switching a claim to another VolumeAttributesClass.
pub struct ModifyVolumeStatus {
    /// Name of the VolumeAttributesClass currently being applied.
    #[field(1)]
    pub target_volume_attributes_class_name: String,

    /// Stage of the change: `Pending`, `InProgress` or `Infeasible`.
    #[field(2, required)]
    pub status: PersistentVolumeClaimModifyVolumeStatus,
}

/// Stage of applying another VolumeAttributesClass to a claim.
pub enum PersistentVolumeClaimModifyVolumeStatus {
    Pending,
    InProgress,
    Infeasible,
}

/// Blueprint from which a per-pod claim is generated.
pub struct PersistentVolumeClaimTemplate {
    /// Labels and annotations copied onto the generated claim; other fields are rejected.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Storage properties copied unchanged into the generated claim.
    #[field(2, required)]
    pub spec: PersistentVolumeClaimSpec,
}
