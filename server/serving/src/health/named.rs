//! A health check with its name, and the endpoints that include it.

use std::sync::Arc;

use options::BoxError;

/// A health check; the error is the reason of a failure, from any crate.
pub type HealthCheck = Arc<dyn Fn() -> Result<(), BoxError> + Send + Sync>;

#[derive(Clone)]
pub(super) struct Named {
    pub(super) name: &'static str,
    /// The endpoints that include the check.
    pub(super) on: Endpoints,
    pub(super) check: HealthCheck,
}

impl Named {
    /// Whether it checks start-up work (upstream: `AddBootSequenceHealthChecks`).
    pub(super) fn is_boot_check(&self) -> bool {
        self.name.starts_with("poststarthook/") || self.name == "autoregister-completion"
    }
}

/// The endpoints that include a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Endpoints {
    pub(super) healthy: bool,
    pub(super) alive: bool,
    pub(super) ready: bool,
}
