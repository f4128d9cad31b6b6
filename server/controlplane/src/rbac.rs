//! Roles and bindings at work: the index that requests are judged by, the policy a cluster begins with, and who may give rights away.

mod bootstrap;
mod convert;
pub mod escalation;
mod index;
mod policy;
mod reconcile;

pub use bootstrap::bootstrap;
pub use convert::rules;
pub use index::Index;
pub use policy::Policy;

pub const GROUP: &str = "rbac.authorization.k8s.io";
