//! Kinds with behaviour of their own: strategies, admission, subresources, and the objects a cluster begins with.

mod admission;
mod bootstrap;
mod services;
mod strategies;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use endpoints::{Admission, Behaviour, Environment, SubresourceHandler};
use machinery::catalog::{KindDef, ResourceDef};
use machinery::status::Status;
use registry::Strategy;
use serving::options::Options;

/// The behaviour of Kubernetes' own kinds.
pub struct ControlPlane;

#[async_trait]
impl Behaviour for ControlPlane {
    fn strategy(
        &self,
        kind: &'static KindDef,
        resource: &'static ResourceDef,
        _options: &Options,
    ) -> Option<Arc<dyn Strategy>> {
        strategies::of(kind, resource)
    }

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
