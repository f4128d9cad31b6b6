/// Vendor settings to apply when preparing a device.
pub struct DeviceConfiguration {
    /// Driver-specific parameters that Kubernetes passes through uninterpreted.
    #[field(1)]
    pub opaque: Option<OpaqueDeviceConfiguration>,
}

/// Vendor parameters addressed to one driver.
#[check(driver, format = csi_driver_name, when(part(default, stored)))]
#[check(parameters, required, max_bytes = 10240, valid, json_object)]
#[check(parameters, required, json_object, when(part(stored)))]
pub struct OpaqueDeviceConfiguration {
    /// DRA driver expected to understand the parameters; others skip them.
    #[field(1, required)]
    pub driver: String,

    /// Vendor-defined object with its own `apiVersion` and `kind`, 10 KiB at most.
    #[field(2, required)]
    pub parameters: RawExtension,
}
