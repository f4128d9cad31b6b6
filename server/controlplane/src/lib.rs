//! Kinds with behaviour of their own: admission, subresources, and the objects a cluster begins with.

mod admission;
mod bootstrap;
mod services;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use endpoints::{Admission, Behaviour, Environment, SubresourceHandler};
use machinery::catalog::{KindDef, ResourceDef};
use machinery::status::Status;

/// The behaviour of Kubernetes' own kinds.
pub struct ControlPlane;

#[async_trait]
impl Behaviour for ControlPlane {
    fn admission(&self, environment: &Arc<Environment>) -> Arc<dyn Admission> {
        Arc::new(admission::Chain::new(environment.clone()))
    }

    fn handlers(
        &self,
        _kind: &'static KindDef,
        _resource: &'static ResourceDef,
        _environment: &Arc<Environment>,
    ) -> HashMap<&'static str, Arc<dyn SubresourceHandler>> {
        HashMap::new()
    }

    async fn bootstrap(&self, environment: &Arc<Environment>) -> Result<(), Status> {
        bootstrap::all(environment).await
    }
}
