use crate::meta::ObjectMeta;

/// Admin-defined category of devices with preset filters and settings.
#[kind(
    plural = "deviceclasses",
    scope = Cluster,
    name = long_name,
    delete_returns_object,
    generation,
    metadata = whole_and_change
)]
#[versions(v1(introduced = "1.34"), v1beta2(introduced = "1.33"), v1beta1(introduced = "1.32"))]
#[column("Age", age)]
#[check(spec, below)]
pub struct DeviceClass {
    /// Cluster-wide class name and labels; claims refer to the name.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Device filters and settings making up the class.
    #[field(2, required)]
    pub spec: DeviceClassSpec,
}

/// Defines which devices belong to a class and their configuration.
#[check(selectors, max_items = 32, valid, below)]
#[check(config, max_items = 32, valid, below, when(changed(config)))]
#[check(config, max_items = 32, valid, below = stored, when(not(changed(config))))]
#[check(extendedResourceName, format = extended_resource)]
pub struct DeviceClassSpec {
    /// Filters that devices must all pass to belong to the class.
    #[field(1, list = atomic)]
    pub selectors: Vec<DeviceSelector>,

    /// Settings passed to drivers for each device claimed via this class.
    #[field(2, list = atomic)]
    pub config: Vec<DeviceClassConfiguration>,

    /// Extended resource, like `example.com/gpu`, that pods may request to get these devices.
    #[field(4, gate = DRAExtendedResource)]
    pub extended_resource_name: Option<String>,
}

/// Driver settings applied to every device claimed through the class.
#[check(opaque, required, below)]
#[check(opaque, required, below = stored, when(part(stored)))]
pub struct DeviceClassConfiguration {
    /// Inlined settings handed to the driver.
    #[field(1, inline)]
    pub device_configuration: DeviceConfiguration,
}
