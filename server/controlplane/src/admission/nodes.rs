//! `TaintNodesByCondition`: a new node is not ready until somebody looked.

use generated::core::v1::{Node, Taint};
use machinery::reflect::Owned;

const NOT_READY: &str = "node.kubernetes.io/not-ready";
const NO_SCHEDULE: &str = "NoSchedule";

/// Adds the taint that keeps pods off a new node.
pub fn taint(object: &mut Owned) {
    let Some(node) = object.downcast_mut::<Node>() else { return };
    if !node.spec.taints.iter().any(|t| t.key == NOT_READY && t.effect == NO_SCHEDULE) {
        node.spec.taints.push(Taint { key: NOT_READY.into(), effect: NO_SCHEDULE.into(), ..Taint::default() });
    }
}
