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
#[check(driverName, unchanged = "updates to driverName are forbidden.")]
#[check(parameters, unchanged = "updates to parameters are forbidden.")]
#[check(metadata, by_hand = validate_cluster_metadata, when(update))]
#[check(driverName, required, format = caseless_qualified_name)]
#[check(self, by_hand = validate_attributes)]
#[check(parameters, required = "must contain at least one key/value pair")]
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
