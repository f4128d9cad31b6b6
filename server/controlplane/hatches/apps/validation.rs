//! What upstream checks by hand in kinds of `apps` (`pkg/apis/apps/validation`).

#[path = "validation/controller_revision.rs"]
mod controller_revision;
#[path = "validation/daemon_set.rs"]
mod daemon_set;
#[path = "validation/deployment.rs"]
mod deployment;
#[path = "validation/percent.rs"]
pub(crate) mod percent;
#[path = "validation/replica_set.rs"]
mod replica_set;
#[path = "validation/selector.rs"]
mod selector;
#[path = "validation/stateful_set.rs"]
mod stateful_set;
#[path = "validation/status.rs"]
mod status;

pub use controller_revision::validate_controller_revision;
pub use daemon_set::validate_daemon_set;
pub use deployment::validate_deployment;
pub use replica_set::validate_replica_set;
pub use stateful_set::validate_stateful_set;
