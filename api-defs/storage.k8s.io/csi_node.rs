use crate::meta::ObjectMeta;

/// Lists CSI drivers installed on a node; maintained by the kubelet.
#[kind(plural = "csinodes", scope = Cluster, unconditional_update = false, delete_returns_object, metadata = whole)]
#[versions(
    v1(introduced = "1.17"),
    v1beta1(
        unserved,
        introduced = "1.14",
        deprecated = "1.17",
        removed = "1.22",
        replacement = "storage.k8s.io/v1 CSINode"
    )
)]
#[column("Drivers", integer, len(spec.drivers))]
#[column("Age", age)]
#[check(spec.drivers, below)]
#[check(self, by_hand = validate_drivers_update, when(update))]
pub struct CSINode {
    /// Identity of the record, whose name equals the Node's name.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Drivers registered on this node.
    #[field(2, required)]
    pub spec: CSINodeSpec,
}

/// Driver inventory of a node.
pub struct CSINodeSpec {
    /// One entry per installed driver; may be empty.
    #[field(1, required, list = map(name), patch = merge)]
    pub drivers: Vec<CSINodeDriver>,
}

/// Node-specific facts about one installed CSI driver.
#[check(name, format = csi_driver_name)]
#[check(nodeID, filled, max_bytes(256, "must be 256 characters or less"))]
#[check(allocatable.count, not_negative)]
#[check(name, distinct)]
#[check(topologyKeys, each(at("..", filled, field(self, distinct), format = qualified_name)))]
pub struct CSINodeDriver {
    /// Driver name, identical to the one returned by its `GetPluginInfo` call.
    #[field(1, required)]
    pub name: String,

    /// The storage system's own identifier for this node.
    #[field(2, required)]
    pub node_id: String,

    /// Node label keys the driver uses to describe volume accessibility.
    #[field(3, always, list = atomic)]
    pub topology_keys: Vec<String>,

    /// Volume limits that the scheduler enforces on this node.
    #[field(4)]
    pub allocatable: Option<VolumeNodeResources>,
}

/// Volume limits of a CSI driver on a node.
pub struct VolumeNodeResources {
    /// Most volumes the driver can attach to this node; unset imposes no limit.
    #[field(1)]
    pub count: Option<i32>,
}
