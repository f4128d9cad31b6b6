//! The parts of a server that the evaluation of policies and webhooks reads.

use std::sync::{Arc, Weak};

use authz::Authorizer;
use endpoints::{CustomEndpoints, LateCustomEndpoints};
use machinery::catalog::Catalog;
use registry::Stores;

/// The parts of a server that the evaluation of policies and webhooks reads.
pub struct PolicyContext {
    pub catalog: &'static Catalog,
    pub stores: Arc<Stores>,
    pub authorizer: Arc<dyn Authorizer>,
    /// Endpoints of custom resources, for parameters of policies.
    pub custom: LateCustomEndpoints,
}

impl PolicyContext {
    /// Returns the endpoints of custom resources, if they are served.
    pub fn custom(&self) -> Option<Arc<dyn CustomEndpoints>> {
        self.custom.get().and_then(Weak::upgrade)
    }
}
