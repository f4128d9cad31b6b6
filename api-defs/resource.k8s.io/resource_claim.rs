use crate::meta::ObjectMeta;

/// Request for devices that pods can use, comparable to a claim for storage.
#[kind(
    plural = "resourceclaims",
    scope = Namespaced,
    delete_returns_object,
    generation = false,
    metadata = whole_and_change
)]
#[versions(v1(introduced = "1.34"), v1beta2(introduced = "1.33"), v1beta1(introduced = "1.32"))]
#[subresource(status, without_tables)]
#[column("State", by_hand = resource_claim_state, reads(metadata.deletionTimestamp, status.allocation, status.reservedFor), "Whether the claim is allocated, reserved, or being deleted.")]
#[column("Age", age)]
#[strategy(update = update_resource_claim)]
#[check(spec.devices, by_hand = choose_device_requests)]
#[check(spec.devices, below, when(create))]
#[check(spec, immutable, when(not(subresource = status)))]
#[check(status, below, when(update, subresource = status))]
#[check(
    status.reservedFor,
    refused = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set",
    when(
        update,
        subresource = status,
        set(metadata.deletionTimestamp),
        set(status.allocation),
        not(holds(status.reservedFor, each(ratchet, invalid = "new")))
    )
)]
#[check(status.allocation, optional, immutable, when(subresource = status, was(set(status.allocation))))]
#[check(status.allocation, below, when(update, subresource = status, not(was(set(status.allocation)))))]
pub struct ResourceClaim {
    /// Name, namespace and labels; pods must share the namespace.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Requested devices; cannot be edited after creation.
    #[field(2, required)]
    pub spec: ResourceClaimSpec,

    /// Allocation result, current users and device state.
    #[field(3)]
    pub status: ResourceClaimStatus,
}

/// Describes the devices a claim wants.
pub struct ResourceClaimSpec {
    /// Device requests, constraints and settings.
    #[field(1)]
    pub devices: DeviceClaim,
}

/// Device portion of a claim: requests, cross-request constraints and settings.
#[check(requests, max_items = 32, valid, below, each(field(name, at(".", distinct))))]
#[check(constraints, max_items = 32, valid, below)]
#[check(config, max_items = 32, valid, below)]
pub struct DeviceClaim {
    /// Distinct device needs, 32 at most, each satisfied independently.
    #[field(1, always, list = atomic)]
    pub requests: Vec<DeviceRequest>,

    /// Conditions spanning devices, for example all from the same NUMA node; 32 at most.
    #[field(2, list = atomic)]
    pub constraints: Vec<DeviceConstraint>,

    /// Driver settings for the requested devices; 32 entries at most.
    #[field(3, list = atomic)]
    pub config: Vec<DeviceClaimConfiguration>,
}

/// One named device need inside a claim.
#[check(name, name = dns1123_label)]
#[check(
    self,
    missing = "exactly one of `exactly` or `firstAvailable` is required",
    when(none(exactly, firstAvailable))
)]
#[check(
    self,
    invalid(null, "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"),
    when(set(exactly), set(firstAvailable))
)]
#[check(
    firstAvailable,
    max_items = 8,
    valid,
    below,
    each(field(name, at(".", distinct))),
    when(unset(exactly))
)]
#[check(exactly, below, when(unset(firstAvailable)))]
pub struct DeviceRequest {
    /// DNS label used by pods and constraints to address this request.
    #[field(1, required)]
    pub name: String,

    /// Single fixed description of the devices; exclusive with `firstAvailable`.
    #[field(2)]
    pub exactly: Option<ExactDeviceRequest>,

    /// Alternatives in order of preference, up to eight; the first satisfiable one is used.
    #[field(3, list = atomic, gate = DRAPrioritizedList)]
    pub first_available: Vec<DeviceSubRequest>,
}

/// Fixed device requirement without alternatives.
#[check(deviceClassName, required, name = dns1123_subdomain)]
#[check(selectors, max_items = 32, valid, below)]
#[check(
    count,
    invalid = "must not be specified when allocationMode is 'All'",
    when(allocationMode = All, not(count = 0))
)]
#[check(count, positive, when(allocationMode = ExactCount))]
#[check(allocationMode, one_of(All, ExactCount))]
#[check(tolerations, below)]
#[default(allocationMode = ExactCount)]
#[default(by_hand = default_exact_device_request)]
pub struct ExactDeviceRequest {
    /// Device class to allocate from; mandatory.
    #[field(1, required)]
    pub device_class_name: String,

    /// Filters added on top of those in the class.
    #[field(2, list = atomic)]
    pub selectors: Vec<DeviceSelector>,

    /// Take `count` devices or all that match; defaults to `ExactCount`.
    #[field(3)]
    pub allocation_mode: DeviceAllocationMode,

    /// How many devices to take, 1 unless stated.
    #[field(4)]
    pub count: i64,

    /// Requests monitoring or maintenance access, ignoring other claims on the devices.
    #[field(5, gate = DRAAdminAccess)]
    pub admin_access: Option<bool>,

    /// Taints on devices that this requirement overlooks.
    #[field(6, list = atomic, gate = DRADeviceTaints)]
    pub tolerations: Vec<DeviceToleration>,

    /// Minimum amounts each device must have, or share amounts to consume.
    #[field(7, gate = DRAConsumableCapacity)]
    pub capacity: Option<CapacityRequirements>,
}

/// Whether a request needs a fixed number or every matching device.
pub enum DeviceAllocationMode {
    ExactCount,
    All,
}

/// Allows a claim to use devices despite matching taints.
#[check(key, optional, format = qualified_name)]
#[check(value, optional, invalid = "must be empty for operator `Exists`", when(operator = Exists))]
#[check(value, format = label_value, when(operator = Equal))]
#[check(operator, required, one_of(Equal, Exists))]
#[check(effect, optional, one_of(NoExecute, NoSchedule, None))]
pub struct DeviceToleration {
    /// Taint key accepted; empty together with `Exists` accepts any.
    #[field(1)]
    pub key: String,

    /// Match mode: `Equal`, the default, compares values, whereas `Exists` ignores them.
    #[field(2, default = Equal)]
    pub operator: DeviceTolerationOperator,

    /// Taint value accepted; stays empty with `Exists`.
    #[field(3)]
    pub value: String,

    /// Taint effect accepted; empty accepts all effects.
    #[field(4)]
    pub effect: DeviceTaintEffect,

    /// Seconds to withstand a `NoExecute` taint; unset never evicts, 0 evicts at once.
    #[field(5)]
    pub toleration_seconds: Option<i64>,
}

/// Compares toleration and device taint by value or by presence.
pub enum DeviceTolerationOperator {
    Exists,
    Equal,
}

/// Capacity amounts a request needs from each device.
pub struct CapacityRequirements {
    /// Needed amount per capacity name; acts as a filter on devices that cannot be shared.
    #[field(1, go_whole = "map[QualifiedName]resource.Quantity")]
    pub requests: Map<String, Quantity>,
}

/// One alternative within a prioritised device request.
#[check(name, name = dns1123_label)]
#[check(deviceClassName, required, name = dns1123_subdomain)]
#[check(selectors, max_items = 32, valid, below)]
#[check(
    count,
    invalid = "must not be specified when allocationMode is 'All'",
    when(allocationMode = All, not(count = 0))
)]
#[check(count, positive, when(allocationMode = ExactCount))]
#[check(allocationMode, one_of(All, ExactCount))]
#[check(tolerations, below)]
#[default(allocationMode = ExactCount)]
#[default(by_hand = default_device_sub_request)]
pub struct DeviceSubRequest {
    /// DNS label of the alternative, referenced as `main/sub`.
    #[field(1, required)]
    pub name: String,

    /// Device class supplying defaults and filters for this alternative; required.
    #[field(2, required)]
    pub device_class_name: String,

    /// Extra filters a device must pass for this alternative.
    #[field(3, list = atomic)]
    pub selectors: Vec<DeviceSelector>,

    /// Fixed count or all matching devices, for this alternative; default `ExactCount`.
    #[field(4)]
    pub allocation_mode: DeviceAllocationMode,

    /// Devices this alternative needs, default 1.
    #[field(5)]
    pub count: i64,

    /// Device taints this alternative accepts.
    #[field(6, list = atomic, gate = DRADeviceTaints)]
    pub tolerations: Vec<DeviceToleration>,

    /// Capacity this alternative needs per device.
    #[field(7, gate = DRAConsumableCapacity)]
    pub capacity: Option<CapacityRequirements>,
}

/// Relationship that must hold among devices of one claim.
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
#[check(matchAttribute, format = full_device_attribute_name)]
#[check(distinctAttribute, format = full_device_attribute_name, when(unset(matchAttribute)))]
#[check(
    self,
    missing = "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but multiple fields are set",
    when(none(matchAttribute, distinctAttribute), gate(DRAConsumableCapacity))
)]
#[check(matchAttribute, required, when(unset(distinctAttribute), not(gate(DRAConsumableCapacity))))]
pub struct DeviceConstraint {
    /// Requests the relationship covers; empty covers the entire claim.
    #[field(1, list = atomic)]
    pub requests: Vec<String>,

    /// Attribute whose value must be identical on all covered devices.
    #[field(2, go = "FullyQualifiedName")]
    pub match_attribute: Option<String>,

    /// Attribute whose value must differ on every covered device.
    #[field(3, gate = DRAConsumableCapacity, go = "FullyQualifiedName")]
    pub distinct_attribute: Option<String>,
}

/// Driver settings inside a claim, optionally limited to certain requests.
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
pub struct DeviceClaimConfiguration {
    /// Request names concerned; empty covers all, `main/sub` addresses an alternative.
    #[field(1, list = atomic)]
    pub requests: Vec<String>,

    /// Inlined settings meant for the driver.
    #[field(2, inline)]
    pub device_configuration: DeviceConfiguration,
}

mod v1beta1 {
    #[differs(DeviceRequest)]
    #[default(by_hand = default_v1beta1_device_request)]
    struct DeviceRequest {
        #[gone]
        exactly: (),

        /// Device class to draw from in older betas; v1 moved it under `exactly`.
        #[field(2, always)]
        device_class_name: String,

        /// Further filters beyond the class, all of which must pass.
        #[field(3, list = atomic)]
        selectors: Vec<DeviceSelector>,

        /// Allocate a fixed `count` or every matching device; `ExactCount` by default.
        #[field(4)]
        allocation_mode: DeviceAllocationMode,

        /// Devices wanted in `ExactCount` mode; 1 if left out.
        #[field(5)]
        count: i64,

        /// Grants privileged access to devices in use; namespace needs the admin-access label.
        #[field(6, gate = DRAAdminAccess)]
        admin_access: Option<bool>,

        /// Alternatives in order of preference, up to eight; the first satisfiable one is used.
        #[field(7, list = atomic, gate = DRAPrioritizedList)]
        first_available: Vec<DeviceSubRequest>,

        /// Device taints this request puts up with, 16 at most.
        #[field(8, list = atomic, gate = DRADeviceTaints)]
        tolerations: Vec<DeviceToleration>,

        /// Capacity each allocated device must provide to the request.
        #[field(9, gate = DRAConsumableCapacity)]
        capacity: Option<CapacityRequirements>,
    }

    #[convert(
        DeviceRequest,
        by_hand = v1beta1_device_request,
        here(deviceClassName, selectors, allocationMode, count, adminAccess, tolerations, capacity),
        hub(exactly)
    )]
    struct FlatRequest;

    #[differs(DeviceSubRequest)]
    #[default(allocationMode = ExactCount)]
    #[default(by_hand = default_v1beta1_device_sub_request)]
    struct DeviceSubRequest {
        /// Device taints this alternative accepts.
        #[field(7, list = atomic, gate = DRADeviceTaints)]
        tolerations: Vec<DeviceToleration>,

        /// Capacity this alternative needs per device.
        #[field(8, gate = DRAConsumableCapacity)]
        capacity: Option<CapacityRequirements>,
    }
}
