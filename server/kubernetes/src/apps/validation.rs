//! What declared checks of `apps` leave to functions (`pkg/apis/apps/validation`).

mod controller_revision;
mod daemon_set;
mod deployment;
mod percent;
mod replica_set;
mod selector;
mod stateful_set;
mod status;

pub use controller_revision::validate_revision_data;
pub use daemon_set::{
    refuse_daemon_set_strategy, validate_daemon_set_pods, validate_daemon_set_selector, validate_progress_of_daemons,
};
pub use deployment::{
    refuse_deployment_strategy, validate_deployment_pods, validate_progress_deadline, validate_progress_of_deployment,
};
pub use replica_set::validate_replica_set_pods;
pub use stateful_set::{
    allow_stored_template, validate_claim_template_of_set, validate_progress_of_set, validate_stateful_set_change,
    validate_stateful_set_metadata, validate_stateful_set_pods, validate_stateful_set_strategy,
};
pub use status::{
    validate_collisions_of_daemon_set, validate_collisions_of_deployment, validate_collisions_of_stateful_set,
};
