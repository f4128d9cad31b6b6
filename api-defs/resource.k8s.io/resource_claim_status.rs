use crate::core::NodeSelector;
use crate::meta::Condition;

/// Tracks allocation and usage of a claim.
#[check(reservedFor, max_items = 256, valid, below, each(field(uid, at(".", distinct))))]
#[check(self, by_hand = choose_allocated_devices)]
#[check(devices, below)]
#[check(self, by_hand = validate_distinct_devices)]
#[check(
    reservedFor,
    forbidden = "may not be specified when `allocated` is not set",
    when(unset(allocation))
)]
pub struct ResourceClaimStatus {
    /// Devices granted; empty until the claim is allocated.
    #[field(1)]
    pub allocation: Option<AllocationResult>,

    /// Consumers allowed to use the claim, up to 256; deallocation needs it empty.
    #[field(2, list = map(uid), patch = merge)]
    pub reserved_for: Vec<ResourceClaimConsumerReference>,

    /// Per-device state published by drivers.
    #[field(4, list = map(driver, device, pool, shareID), gate = DRAResourceClaimDeviceStatus)]
    pub devices: Vec<AllocatedDeviceStatus>,
}

/// Outcome of allocating a claim: chosen devices and usable nodes.
#[check(devices, below)]
#[check(nodeSelector, below)]
pub struct AllocationResult {
    /// Devices handed out, along with the configuration to apply.
    #[field(1)]
    pub devices: DeviceAllocationResult,

    /// Nodes from which the devices are reachable; unset means every node.
    #[field(3)]
    pub node_selector: Option<NodeSelector>,

    /// Time at which the scheduler made the allocation.
    #[field(5, gate = DRADeviceBindingConditions)]
    pub allocation_timestamp: Option<Time>,
}

/// Devices picked for a claim and settings to prepare them with.
#[check(results, max_items = 32, valid, below)]
#[check(config, max_items = 64, valid, below)]
pub struct DeviceAllocationResult {
    /// One entry per allocated device, up to 32.
    #[field(1, list = atomic)]
    pub results: Vec<DeviceRequestAllocationResult>,

    /// Merged settings from class and claim, class entries first.
    #[field(2, list = atomic)]
    pub config: Vec<DeviceAllocationConfiguration>,
}

/// Records which device satisfied a given request.
#[check(
    request,
    format = device_request_reference,
    noted(
        device_requests,
        "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
    )
)]
#[check(driver, format = csi_driver_name)]
#[check(pool, format = device_pool_name)]
#[check(device, name = dns1123_label)]
#[check(bindingConditions, max_items = 4, valid, each(format = qualified_name))]
#[check(bindingFailureConditions, max_items = 4, valid, each(format = qualified_name))]
#[check(self, open(binding_conditions))]
#[check(bindingConditions, each(note = binding_conditions, distinct))]
#[check(
    bindingFailureConditions,
    each(
        field(self, distinct),
        unnoted(binding_conditions, "bindingFailureConditions must not overlap with bindingConditions")
    )
)]
#[check(
    bindingConditions,
    invalid = "bindingConditions are required to use bindingFailureConditions",
    when(unset(bindingConditions), set(bindingFailureConditions))
)]
#[check(
    bindingFailureConditions,
    invalid = "bindingFailureConditions are required to use bindingConditions",
    when(set(bindingConditions), unset(bindingFailureConditions))
)]
#[check(shareID, format = lower_case_uuid)]
pub struct DeviceRequestAllocationResult {
    /// Request satisfied, written `main/sub` when an alternative was picked.
    #[field(1, required)]
    pub request: String,

    /// DRA driver whose kubelet plugin prepares the device.
    #[field(2, required)]
    pub driver: String,

    /// Pool that supplied the device.
    #[field(3, required)]
    pub pool: String,

    /// Name of the allocated device in that pool.
    #[field(4, required)]
    pub device: String,

    /// Whether the device was granted for administrative access.
    #[field(5, gate = DRAAdminAccess)]
    pub admin_access: Option<bool>,

    /// Copy of the request's tolerations as of allocation time.
    #[field(6, list = atomic, gate = DRADeviceTaints)]
    pub tolerations: Vec<DeviceToleration>,

    /// Copied condition types that binding has to wait for.
    #[field(7, list = atomic, gate = DRADeviceBindingConditions)]
    pub binding_conditions: Vec<String>,

    /// Copied condition types that make binding fail.
    #[field(8, list = atomic, gate = DRADeviceBindingConditions)]
    pub binding_failure_conditions: Vec<String>,

    /// Unique identifier of this share of a multiply allocated device.
    #[field(9, gate = DRAConsumableCapacity, go = "types.UID")]
    pub share_id: Option<String>,

    /// Capacity taken by this share, after rounding by the request policy.
    #[field(10, gate = DRAConsumableCapacity, go_whole = "map[QualifiedName]resource.Quantity")]
    pub consumed_capacity: Map<String, Quantity>,
}

/// Configuration that the driver must apply to allocated devices, with its origin.
#[check(source, required, one_of(FromClaim, FromClass))]
#[check(
    requests,
    max_items = 32,
    valid,
    each(
        format = device_request_reference,
        noted(
            device_requests,
            "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
        )
    ),
    each(distinct)
)]
#[check(opaque, required, below)]
pub struct DeviceAllocationConfiguration {
    /// Whether the settings come from the DeviceClass or the claim.
    #[field(1, required)]
    pub source: AllocationConfigSource,

    /// Claim requests these settings concern; empty applies to all.
    #[field(2, list = atomic)]
    pub requests: Vec<String>,

    /// Inlined driver settings to apply.
    #[field(3, inline)]
    pub device_configuration: DeviceConfiguration,
}

/// Origin of device settings: class or claim.
pub enum AllocationConfigSource {
    FromClass,
    FromClaim,
}

/// Identifies an object entitled to use an allocated claim.
#[check(resource, filled)]
#[check(name, filled)]
#[check(uid, filled)]
pub struct ResourceClaimConsumerReference {
    /// API group of the consumer; empty for pods.
    #[field(1)]
    pub api_group: String,

    /// Plural resource of the consumer, for instance `pods`.
    #[field(3, required)]
    pub resource: String,

    /// Consumer's object name in the claim's namespace.
    #[field(4, required)]
    pub name: String,

    /// Unique identifier pinning one particular consumer incarnation.
    #[field(5, required, go = "types.UID")]
    pub uid: String,
}

/// Driver-reported state of one device allocated to a claim.
#[check(driver, format = csi_driver_name)]
#[check(pool, format = device_pool_name)]
#[check(device, name = dns1123_label)]
#[check(shareID, format = lower_case_uuid)]
#[check(self, by_hand = validate_allocated_device)]
#[check(conditions, max_items = 8, below)]
#[check(data, max_bytes = 10240, valid, json_object)]
#[check(networkData, below)]
pub struct AllocatedDeviceStatus {
    /// DNS name of the DRA driver, such as `gpu.example.com`.
    #[field(1, required)]
    pub driver: String,

    /// Pool containing the device, together with driver and device forming its identity.
    #[field(2, required)]
    pub pool: String,

    /// Device name inside its pool.
    #[field(3, required)]
    pub device: String,

    /// Distinguishes this share when several claims split one device.
    #[field(7, gate = DRAConsumableCapacity)]
    pub share_id: Option<String>,

    /// Driver-defined health observations, no more than eight.
    #[field(4, always, list = map(type))]
    pub conditions: Vec<Condition>,

    /// Free-form driver data about the device, at most 10 KiB.
    #[field(5)]
    pub data: Option<RawExtension>,

    /// Interface name and addresses, when the device is a network interface.
    #[field(6)]
    pub network_data: Option<NetworkDeviceData>,
}

/// Network identity of an allocated interface, reported by its driver.
#[check(interfaceName, max_bytes = 256)]
#[check(hardwareAddress, max_bytes = 128)]
#[check(ips, max_items = 16, valid, each(format = interface_address), each(distinct))]
pub struct NetworkDeviceData {
    /// Interface name inside the pod, such as `net1`.
    #[field(1)]
    pub interface_name: String,

    /// Assigned addresses with prefix length, like `192.0.2.5/24`.
    #[field(2, list = atomic)]
    pub ips: Vec<String>,

    /// MAC or other link-layer address of the interface.
    #[field(3)]
    pub hardware_address: String,
}
