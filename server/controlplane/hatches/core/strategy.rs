//! What kinds of the core group add to the declared strategy.

#[path = "strategy/namespace.rs"]
mod namespace;
#[path = "strategy/node.rs"]
mod node;
#[path = "strategy/pod.rs"]
mod pod;
#[path = "strategy/pod_labels.rs"]
mod pod_labels;
#[path = "strategy/template.rs"]
mod template;
#[path = "strategy/volume.rs"]
mod volume;

pub use namespace::*;
pub use node::*;
pub use pod::*;
pub use template::*;
pub use volume::*;
