/// One device filter; currently always CEL.
#[versions(v1, v1beta2, v1beta1, v1alpha3)]
#[check(cel, required, below)]
pub struct DeviceSelector {
    /// CEL filter to evaluate against candidate devices.
    #[field(1)]
    pub cel: Option<CELDeviceSelector>,
}

/// Filters devices by means of a CEL expression.
#[versions(v1, v1beta2, v1beta1, v1alpha3)]
#[check(self, field(expression, max_bytes = 10240), valid, by_hand = validate_device_expression)]
pub struct CELDeviceSelector {
    /// Boolean CEL over `device`, for example `device.driver == 'gpu.example.com'`; at most 10 KiB.
    #[field(1, required)]
    pub expression: String,
}
