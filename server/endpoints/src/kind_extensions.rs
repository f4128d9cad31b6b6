//! Interface to kinds with their own behaviour, which descriptors cannot express. The crate that
//! knows the kinds by name implements it.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use machinery::catalog::{KindDef, ResourceDef};
use machinery::status::Status;
use options::Options;
use registry::{Backend, Informers};
use serving::{Access, Server};
use webhook::{NoServices, ServiceAddress};

use crate::admission::{Admission, AdmissionChain};
use crate::endpoint::SubresourceHandler;
use crate::loopback::Loopback;
use crate::peers::{NoPeers, PeerAddresses};
use crate::server_context::ServerContext;

/// Extensions of kinds by name. The defaults are the behaviour of kinds without extensions.
#[async_trait]
pub trait KindExtensions: Send + Sync {
    /// Builds authenticators and authorizers, from flags and from stored objects.
    fn access(&self, server: &Server, _: &Arc<Informers>) -> Result<Access, serving::Error> {
        server.access()
    }

    /// Resolves addresses of Services of the cluster.
    fn service_addresses(&self, _: &Server, _: &Arc<Informers>) -> Arc<dyn ServiceAddress> {
        Arc::new(NoServices)
    }

    /// Resolves addresses of other API servers of the cluster.
    fn peer_addresses(&self, _: &Backend) -> Arc<dyn PeerAddresses> {
        Arc::new(NoPeers)
    }

    /// Stored keys that belong to no object, below the prefix of the store, each with the group and
    /// the resource whose encryption applies to it.
    fn other_keys(&self) -> &'static [(&'static str, &'static str, &'static str)] {
        &[]
    }

    /// Time to live of objects of a kind in seconds, since the last write. 0 means unlimited.
    fn time_to_live(&self, _: &'static KindDef, _: &Options) -> u64 {
        0
    }

    /// Whether writes of a kind cost more than the body size suggests. Such a body contains
    /// programs, or is compared with all objects of its kind. The writes run in the work pool.
    fn is_costly(&self, _: &'static KindDef) -> bool {
        false
    }

    /// Builds admission for all resources.
    fn admission(&self, _: &ServerContext) -> Result<Arc<dyn Admission>, serving::Error> {
        Ok(Arc::new(AdmissionChain(Vec::new())))
    }

    /// Returns the handlers of a resource's subresources. A virtual resource itself has the empty
    /// name.
    fn handlers(
        &self,
        _: &'static KindDef,
        _: &'static ResourceDef,
        _: &ServerContext,
    ) -> HashMap<&'static str, Arc<dyn SubresourceHandler>> {
        HashMap::new()
    }

    /// Creates the initial objects and starts background work. Runs before `/readyz` succeeds.
    async fn bootstrap(&self, _: &ServerContext, _: &Arc<Loopback>) -> Result<(), Status> {
        Ok(())
    }
}
