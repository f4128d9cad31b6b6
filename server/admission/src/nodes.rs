//! `TaintNodesByCondition`: taints new nodes as not ready.

use generated::core::v1::{Node, Taint, taint_effect};
use machinery::reflect::Owned;

const NOT_READY: &str = "node.kubernetes.io/not-ready";

/// Adds the not-ready taint, which prevents scheduling to a new node.
pub fn taint(object: &mut Owned) {
    let Some(node) = object.downcast_mut::<Node>() else { return };
    if !node.spec.taints.iter().any(|t| t.key == NOT_READY && t.effect == taint_effect::NO_SCHEDULE) {
        node.spec.taints.push(Taint {
            key: NOT_READY.into(),
            effect: taint_effect::NO_SCHEDULE.into(),
            ..Taint::default()
        });
    }
}
