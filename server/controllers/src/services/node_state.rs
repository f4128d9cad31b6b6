//! The part of a node that endpoint slices depend on.

use generated::core::v1::{Node, NodeStatus, condition_status, node_condition_type};
use machinery::protobuf::Mask;
use machinery::status::Status;
use registry::ResourceStore;
use storage::cache::Entry;

const ZONE: &str = "topology.kubernetes.io/zone";
/// Nodes with one of these labels do not count for hints (`hasExcludedLabels`).
const CONTROL_PLANE: [&str; 2] = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];

/// The part of a node that endpoint slices depend on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeState {
    /// The zone; `None` if unknown.
    pub zone: Option<String>,
    /// The processors that pods may use, in thousandths.
    pub milli_cpu: i64,
    /// Whether its condition `Ready` is true.
    pub is_ready: bool,
    /// Whether the node is one of the control plane.
    pub is_control_plane: bool,
}

/// Selects the fields of a stored node that a [`NodeState`] has.
pub fn mask(store: &ResourceStore) -> Mask {
    let mut mask = Mask::new(store.storage_kind.def);
    mask.add(&["status", "allocatable"]);
    mask.add(&["status", "conditions"]);
    mask
}

impl NodeState {
    /// Decodes a node. `mask` is that of [`mask`].
    ///
    /// # Errors
    /// The entry is damaged.
    pub fn of(store: &ResourceStore, entry: &Entry, mask: &Mask) -> Result<Self, Status> {
        let other = |_| Status::internal("the store of nodes has another kind");
        let Node { status, .. } = store.part(entry, mask)?.into_inner().map_err(other)?;
        let label = |name| entry.attributes.label(name);
        Ok(NodeState {
            zone: label(ZONE).filter(|zone| !zone.is_empty()).map(str::to_owned),
            milli_cpu: milli_cpu(&status),
            is_ready: is_ready(&status),
            is_control_plane: CONTROL_PLANE.into_iter().any(|name| label(name).is_some()),
        })
    }
}

fn milli_cpu(status: &NodeStatus) -> i64 {
    status.allocatable.get("cpu").map_or(0, machinery::scalar::Quantity::milli_value)
}

fn is_ready(status: &NodeStatus) -> bool {
    let ready = status.conditions.iter().find(|condition| condition.r#type == node_condition_type::READY);
    ready.is_some_and(|condition| condition.status == condition_status::TRUE)
}
