//! Functions that extend the declared strategies of the core group.

mod endpoints;
mod limit_range;
mod namespace;
mod node;
mod pod;
mod pod_labels;
mod resource_quota;
mod secret;
mod service;
mod service_account;
mod template;
mod volume;
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
