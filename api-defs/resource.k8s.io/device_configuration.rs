/// Vendor settings to apply when preparing a device.
pub struct DeviceConfiguration {
    /// Driver-specific parameters that Kubernetes passes through uninterpreted.
    #[field(1)]
    pub opaque: Option<OpaqueDeviceConfiguration>,
}

/// Vendor parameters addressed to one driver.
pub struct OpaqueDeviceConfiguration {
    /// DRA driver expected to understand the parameters; others skip them.
    #[field(1, required)]
    pub driver: String,

    /// Vendor-defined object with its own `apiVersion` and `kind`, 10 KiB at most.
    #[field(2, required)]
    pub parameters: RawExtension,
}
