//! Creation of endpoints.

use std::collections::HashMap;
use std::sync::Arc;

use authz::Authorizer;
use machinery::catalog::{Catalog, KindDef, ResourceDef};
use options::Options;
use registry::{Clock, ResourceStore};

use crate::admission::Admission;
use crate::endpoint::Endpoint;

/// The parts that every endpoint of a server has.
#[derive(Clone)]
pub struct EndpointBuilder {
    pub catalog: &'static Catalog,
    pub options: Arc<Options>,
    pub authorizer: Arc<dyn Authorizer>,
    /// The clock of creation times.
    pub clock: Arc<dyn Clock>,
}

impl EndpointBuilder {
    /// Creates the endpoint of a resource in the version of a kind, without extensions.
    pub fn endpoint(
        &self,
        (kind, resource): (&'static KindDef, &'static ResourceDef),
        store: Option<Arc<ResourceStore>>,
        admission: Arc<dyn Admission>,
    ) -> Endpoint {
        let options = &self.options;
        Endpoint {
            catalog: self.catalog,
            kind,
            group_version: (kind.group, kind.version),
            resource,
            store,
            admission,
            authorizer: self.authorizer.clone(),
            features: options.features.clone(),
            clock: self.clock.clone(),
            allow_privileged: options.allow_privileged,
            min_request_timeout: options.requests.min_request_timeout,
            delete_workers: options.storage.delete_workers,
            is_costly: false,
            open: None,
            definition: None,
            handlers: HashMap::new(),
        }
    }
}
