//! RBAC: the index for authorization, the bootstrap policy, and escalation checks.

mod bootstrap;
mod convert;
mod escalation;
mod index;
mod policy;
mod reconcile;

pub use bootstrap::bootstrap;
pub use convert::rules;
pub use escalation::EscalationCheck;
pub use index::Index;
pub use policy::BootstrapPolicy;

pub const GROUP: &str = "rbac.authorization.k8s.io";
