use crate::core::NodeSelector;
use crate::meta::ObjectMeta;

/// Inventory page in which a DRA driver publishes devices of one pool.
#[kind(
    plural = "resourceslices",
    scope = Cluster,
    delete_returns_object,
    generation,
    label_error = "field label not supported for {kind}: {label}"
)]
#[versions(v1(introduced = "1.34"), v1beta2(introduced = "1.33"), v1beta1(introduced = "1.32"))]
#[column("Node", spec.nodeName or "")]
#[column("Driver", spec.driver)]
#[column("Pool", spec.pool.name)]
#[column("Age", age)]
#[selectable(spec.driver)]
#[selectable(spec.nodeName)]
#[strategy(warnings = warn_resource_slice)]
#[check(spec, below)]
pub struct ResourceSlice {
    /// Generated name and ownership of the slice.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Driver, pool, node access and devices published here.
    #[field(2, required)]
    pub spec: ResourceSliceSpec,
}

/// Contents of an inventory page, written by the DRA driver.
#[check(driver, format = csi_driver_name)]
#[check(pool, below)]
#[check(pool.name, immutable)]
#[check(driver, immutable)]
#[check(nodeName, immutable)]
#[check(nodeName, optional, invalid = "must be either unset or set to a non-empty string", when(nodeName = ""))]
#[check(nodeName, name = dns1123_subdomain, when(not(nodeName = "")))]
#[check(nodeSelector, below)]
#[check(
    nodeSelector.nodeSelectorTerms,
    invalid = "must have exactly one node selector term",
    when(not(single(nodeSelector.nodeSelectorTerms)))
)]
#[check(allNodes, invalid = "must be either unset or set to true", when(allNodes = false))]
#[check(
    perDeviceNodeSelection,
    invalid = "must be either unset or set to true",
    when(perDeviceNodeSelection = false)
)]
#[check(
    self,
    missing = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required",
    when(nodeName = "", unset(nodeSelector), not(allNodes = true), not(perDeviceNodeSelection = true))
)]
#[check(self, by_hand = validate_single_access)]
#[check(
    self,
    invalid("", "only one of `sharedCounters` or `devices` is allowed"),
    when(any(set(sharedCounters), sent_empty(sharedCounters)), any(set(devices), sent_empty(devices)))
)]
#[check(self, choose(nodes_by_device, perDeviceNodeSelection = true))]
#[check(self, by_hand = choose_advanced_devices)]
#[check(
    devices,
    max_items = 64,
    valid,
    paired(name, below),
    each(field(name, at(".", distinct))),
    when(option(advanced_devices))
)]
#[check(
    devices,
    max_items = 128,
    valid,
    paired(name, below),
    each(field(name, at(".", distinct))),
    when(not(option(advanced_devices)))
)]
#[check(
    sharedCounters,
    max_items = 8,
    valid,
    below,
    each(field(name, at(".", distinct)))
)]
pub struct ResourceSliceSpec {
    /// DNS name of the publishing driver; immutable.
    #[field(1, required)]
    pub driver: String,

    /// Pool membership and generation of this slice.
    #[field(2, required)]
    pub pool: ResourcePool,

    /// Sole node with access to these devices; immutable, and settable instead of other node fields.
    #[field(3)]
    pub node_name: Option<String>,

    /// Nodes that can reach these devices, as a single selector term.
    #[field(4)]
    pub node_selector: Option<NodeSelector>,

    /// True when every node can reach these devices.
    #[field(5)]
    pub all_nodes: Option<bool>,

    /// Devices in this slice, up to 128, or 64 with taints or counters.
    #[field(6, list = atomic)]
    pub devices: Vec<Device>,

    /// Moves node access settings from the slice onto each device when true.
    #[field(7, gate = DRAPartitionableDevices)]
    pub per_device_node_selection: Option<bool>,

    /// Counter sets for partitionable devices; exclusive with `devices` in recent versions.
    #[field(8, list = atomic, gate = DRAPartitionableDevices)]
    pub shared_counters: Vec<CounterSet>,
}

/// Pool a slice belongs to, with data for spotting incomplete publications.
#[check(name, format = device_pool_name)]
#[check(resourceSliceCount, positive)]
#[check(generation, not_negative = "must be greater than or equal to zero")]
pub struct ResourcePool {
    /// Pool name, frequently the node name; unique per driver.
    #[field(1, required)]
    pub name: String,

    /// Raised by the driver with each change; slices of older generations get ignored.
    #[field(2, required)]
    pub generation: i64,

    /// Slices composing the pool in this generation; fewer found means incomplete.
    #[field(3, required)]
    pub resource_slice_count: i64,
}

/// One allocatable device instance advertised by a DRA driver.
#[check(name, name = dns1123_label)]
#[check(self, by_hand = validate_number_of_attributes)]
#[check(attributes, short_keys(96, each(key(at(".", format = device_attribute_name)), below)))]
#[check(
    capacity,
    short_keys(96, each(key(at(".", format = device_attribute_name)), below = shared)),
    when(allowMultipleAllocations = true)
)]
#[check(
    capacity,
    short_keys(96, each(key(at(".", format = device_attribute_name)), below)),
    when(not(allowMultipleAllocations = true))
)]
#[check(taints, max_items = 16, valid, below, when(changed(taints)))]
#[check(
    consumesCounters,
    max_items = 2,
    valid,
    below,
    each(field(counterSet, at(".", distinct)))
)]
#[check(
    self,
    invalid(
        null,
        "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
    ),
    when(not(option(nodes_by_device)), not(none(nodeName, nodeSelector, allNodes)))
)]
#[check(nodeName, optional, invalid = "must not be empty", when(option(nodes_by_device), nodeName = ""))]
#[check(nodeName, name = dns1123_subdomain, when(option(nodes_by_device), not(nodeName = "")))]
#[check(nodeSelector, below, when(option(nodes_by_device)))]
#[check(allNodes, invalid = "must be either unset or set to true", when(option(nodes_by_device), allNodes = false))]
#[check(
    self,
    missing = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
    when(option(nodes_by_device), nodeName = "", unset(nodeSelector), not(allNodes = true))
)]
#[check(self, by_hand = validate_single_device_access, when(option(nodes_by_device)))]
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
#[check(
    nodeAllocatableResourceMappings,
    each(key(format = native_resource_name), below)
)]
#[check(self, by_hand = validate_capacity_keys)]
pub struct Device {
    /// DNS label identifying the device within its pool.
    #[field(1, required)]
    pub name: String,

    /// Descriptive properties, such as model or driver version, usable in CEL selectors.
    #[field(2, go_whole = "map[QualifiedName]DeviceAttribute")]
    pub attributes: Map<String, DeviceAttribute>,

    /// Measurable amounts the device offers, memory for example; 32 entries including attributes.
    #[field(3, go_whole = "map[QualifiedName]DeviceCapacity")]
    pub capacity: Map<String, DeviceCapacity>,

    /// Shared amounts this device uses up once allocated, enabling partitionable hardware.
    #[field(4, list = atomic, gate = DRAPartitionableDevices)]
    pub consumes_counters: Vec<DeviceCounterConsumption>,

    /// Single node with access; allowed only with `perDeviceNodeSelection` in the slice.
    #[field(5, gate = DRAPartitionableDevices)]
    pub node_name: Option<String>,

    /// Node filter for a device reachable from several nodes.
    #[field(6, gate = DRAPartitionableDevices)]
    pub node_selector: Option<NodeSelector>,

    /// True if any node can reach the device.
    #[field(7, gate = DRAPartitionableDevices)]
    pub all_nodes: Option<bool>,

    /// Driver-set taints that repel or evict claims lacking a toleration.
    #[field(8, list = atomic, gate = DRADeviceTaints)]
    pub taints: Vec<DeviceTaint>,

    /// Pins the claim to the chosen node once this device gets allocated.
    #[field(9, gate = DRADeviceBindingConditions)]
    pub binds_to_node: Option<bool>,

    /// Condition types that must turn true before the pod may bind; at most four.
    #[field(10, list = atomic, gate = DRADeviceBindingConditions)]
    pub binding_conditions: Vec<String>,

    /// Condition types that, once true, abort binding and trigger rescheduling; at most four.
    #[field(11, list = atomic, gate = DRADeviceBindingConditions)]
    pub binding_failure_conditions: Vec<String>,

    /// Lets several claims or requests share the device when true.
    #[field(12, gate = DRAConsumableCapacity)]
    pub allow_multiple_allocations: Option<bool>,

    /// Translates device usage into node resources like `cpu` or `memory` for scheduler accounting.
    #[field(13, gate = DRANodeAllocatableResources, go_whole = "map[v1.ResourceName]NodeAllocatableResourceMapping")]
    pub node_allocatable_resource_mappings: Map<String, NodeAllocatableResourceMapping>,
}

/// Draw on a shared counter set by one device.
#[check(counterSet, required, name = dns1123_label)]
#[check(counters, required, max_items = 32, valid, keys(name = dns1123_label))]
pub struct DeviceCounterConsumption {
    /// Counter set being drawn from.
    #[field(1, required)]
    pub counter_set: String,

    /// Amount used up per counter name.
    #[field(2, required, omitempty)]
    pub counters: Map<String, Counter>,
}

/// One consumable amount in a counter set.
pub struct Counter {
    /// Total available, or amount drawn, as a quantity.
    #[field(1, required)]
    pub value: Quantity,
}

/// Counts a device against one node resource.
#[check(
    self,
    invalid("", "at least one of allocationMultiplier or capacityKey must be set"),
    when(none(allocationMultiplier, capacityKey))
)]
#[check(allocationMultiplier, positive = "must be positive")]
#[check(capacityKey, optional, invalid = "capacityKey must not be an empty string", when(capacityKey = ""))]
pub struct NodeAllocatableResourceMapping {
    /// Device capacity whose consumed amount feeds the calculation.
    #[field(1, go = "QualifiedName")]
    pub capacity_key: Option<String>,

    /// Factor from device units, or consumed capacity, to node resource amount.
    #[field(2, default_hidden = "1")]
    pub allocation_multiplier: Option<Quantity>,
}

/// Named pool of shared amounts that partitions of one device draw upon.
#[check(name, required, name = dns1123_label)]
#[check(counters, required, max_items = 32, valid, keys(name = dns1123_label))]
pub struct CounterSet {
    /// Identifier that devices cite when drawing; unique within the pool.
    #[field(1, required)]
    pub name: String,

    /// Amounts on offer, indexed by counter name.
    #[field(2, required, omitempty)]
    pub counters: Map<String, Counter>,
}

mod v1beta1 {
    #[differs(ResourceSliceSpec)]
    struct ResourceSliceSpec {
        /// Sole node with access to these devices; immutable, and settable instead of other node fields.
        #[field(3)]
        node_name: String,

        /// True when every node can reach these devices.
        #[field(5)]
        all_nodes: bool,
    }

    #[convert(
        ResourceSliceSpec,
        by_hand = v1beta1_resource_slice_spec,
        here(nodeName, allNodes),
        hub(nodeName, allNodes)
    )]
    struct EmptyNode;

    #[differs(Device)]
    struct Device {
        #[gone]
        attributes: (),
        #[gone]
        capacity: (),
        #[gone]
        consumes_counters: (),
        #[gone]
        node_name: (),
        #[gone]
        node_selector: (),
        #[gone]
        all_nodes: (),
        #[gone]
        taints: (),
        #[gone]
        binds_to_node: (),
        #[gone]
        binding_conditions: (),
        #[gone]
        binding_failure_conditions: (),
        #[gone]
        allow_multiple_allocations: (),
        #[gone]
        node_allocatable_resource_mappings: (),

        /// Beta-only wrapper for device properties; newer versions inline them.
        #[field(2)]
        basic: Option<BasicDevice>,
    }

    #[convert(
        Device,
        by_hand = v1beta1_device,
        here(basic),
        hub(
            attributes, capacity, consumesCounters, nodeName, nodeSelector, allNodes, taints, bindsToNode,
            bindingConditions, bindingFailureConditions, allowMultipleAllocations, nodeAllocatableResourceMappings
        )
    )]
    struct Basic;

    /// Device properties in the layout of the first beta API.
    struct BasicDevice {
        /// Properties for selection, keyed by qualified name.
        #[field(1, go_whole = "map[QualifiedName]DeviceAttribute")]
        attributes: Map<String, DeviceAttribute>,

        /// Quantities offered, keyed by qualified name.
        #[field(2, go_whole = "map[QualifiedName]DeviceCapacity")]
        capacity: Map<String, DeviceCapacity>,

        /// Draws on shared counters made by allocating this device.
        #[field(3, list = atomic, gate = DRAPartitionableDevices)]
        consumes_counters: Vec<DeviceCounterConsumption>,

        /// Node owning the device, if node access is declared per device.
        #[field(4, gate = DRAPartitionableDevices)]
        node_name: Option<String>,

        /// Nodes allowed to use the device, if access is declared per device.
        #[field(5)]
        node_selector: Option<NodeSelector>,

        /// Declares the device accessible everywhere, if access is declared per device.
        #[field(6, gate = DRAPartitionableDevices)]
        all_nodes: Option<bool>,

        /// Taints the driver puts on the device.
        #[field(7, list = atomic, gate = DRADeviceTaints)]
        taints: Vec<DeviceTaint>,

        /// Restricts the allocation to the node selected during scheduling.
        #[field(8, gate = DRADeviceBindingConditions)]
        binds_to_node: Option<bool>,

        /// Conditions that pod binding waits on, such as fabric attachment finished.
        #[field(9, list = atomic, gate = DRADeviceBindingConditions)]
        binding_conditions: Vec<String>,

        /// Conditions signalling that preparation failed and the pod needs another placement.
        #[field(10, list = atomic, gate = DRADeviceBindingConditions)]
        binding_failure_conditions: Vec<String>,

        /// Marks the device as shareable between requests.
        #[field(11, gate = DRAConsumableCapacity)]
        allow_multiple_allocations: Option<bool>,

        /// Node resources consumed by using the device, keyed by resource name.
        #[field(12, gate = DRANodeAllocatableResources, go_whole = "map[v1.ResourceName]NodeAllocatableResourceMapping")]
        node_allocatable_resource_mappings: Map<String, NodeAllocatableResourceMapping>,
    }
}
