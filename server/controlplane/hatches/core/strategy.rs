//! What kinds of the core group add to the declared strategy.

#[path = "strategy/endpoints.rs"]
mod endpoints;
#[path = "strategy/limit_range.rs"]
mod limit_range;
#[path = "strategy/namespace.rs"]
mod namespace;
#[path = "strategy/node.rs"]
mod node;
#[path = "strategy/pod.rs"]
mod pod;
#[path = "strategy/pod_labels.rs"]
mod pod_labels;
#[path = "strategy/resource_quota.rs"]
mod resource_quota;
#[path = "strategy/secret.rs"]
mod secret;
#[path = "strategy/service.rs"]
mod service;
#[path = "strategy/service_account.rs"]
mod service_account;
#[path = "strategy/template.rs"]
mod template;
#[path = "strategy/volume.rs"]
mod volume;
#[path = "strategy/volume_claim.rs"]
mod volume_claim;

pub use endpoints::*;
pub use limit_range::*;
pub use namespace::*;
pub use node::*;
pub use pod::*;
pub use resource_quota::*;
pub use secret::*;
pub use service::*;
pub use service_account::*;
pub use template::*;
pub use volume::*;
pub use volume_claim::*;
