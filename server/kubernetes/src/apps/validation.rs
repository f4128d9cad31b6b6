//! What upstream checks by hand in kinds of `apps` (`pkg/apis/apps/validation`).

mod controller_revision;
mod daemon_set;
mod deployment;
pub(crate) mod percent;
mod replica_set;
mod selector;
mod stateful_set;
mod status;

pub use controller_revision::validate_controller_revision;
pub use daemon_set::validate_daemon_set;
pub use deployment::validate_deployment;
pub use replica_set::validate_replica_set;
pub use stateful_set::validate_stateful_set;
