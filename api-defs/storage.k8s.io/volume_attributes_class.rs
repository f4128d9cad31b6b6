use crate::meta::ObjectMeta;

/// Set of mutable volume properties, such as IOPS, that claims can switch between.
#[kind(plural = "volumeattributesclasses", short = "vac", scope = Cluster, delete_returns_object, metadata = change)]
#[versions(
    v1(introduced = "1.34"),
    v1beta1(introduced = "1.31", deprecated = "1.34", replacement = "storage.k8s.io/v1 VolumeAttributesClass"),
    v1alpha1(introduced = "1.29", deprecated = "1.32", replacement = "storage.k8s.io/v1 VolumeAttributesClass")
)]
#[column("DriverName", driverName)]
#[column("Age", age)]
#[validate(by_hand = validate_volume_attributes_class)]
pub struct VolumeAttributesClass {
    /// Cluster-wide name and labels; claims refer to the name.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// CSI driver that understands these properties; immutable.
    #[field(2, required)]
    pub driver_name: String,

    /// Driver-specific properties, immutable; up to 512 keys and 256 KiB.
    #[field(3)]
    pub parameters: Map<String, String>,
}
