//! Nodes.

use machinery::hooks::Context;

use crate::core::v1::Node;

/// A kubelet registers its node together with its status.
pub fn create_node(_: &Context, node: &mut Node, said: &Node) {
    node.status = said.status.clone();
}
