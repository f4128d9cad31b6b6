//! The seam to kinds with behaviour of their own: what no descriptor can say, given by whoever knows them by name.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, Weak};

use async_trait::async_trait;
use flowcontrol::FlowControl;
use machinery::catalog::{Catalog, KindDef, ResourceDef};
use machinery::status::Status;
use registry::{Backend, Informers, Stores};
use serving::health::Health;
use serving::metrics::Metrics;
use serving::options::Options;
use serving::shutdown::Shutdown;
use serving::tokens::ServiceAccountKeys;
use serving::{Access, Server};
use webhook::{NoServices, ServiceAddress};

use crate::admission::{Admission, AdmissionChain};
use crate::discovery::Discovery;
use crate::endpoint::SubresourceHandler;
use crate::loopback::Loopback;
use crate::open::CustomEndpoints;
use crate::peers::{NoPeers, PeerAddresses};

/// What behaviours are given to work with.
pub struct ServerContext {
    pub catalog: &'static Catalog,
    pub options: Arc<Options>,
    pub stores: Arc<Stores>,
    pub informers: Arc<Informers>,
    /// What is served, by this server and by others.
    pub discovery: Arc<Discovery>,
    /// Webhooks and aggregated servers.
    pub services: Arc<webhook::Services>,
    /// Who is let in, and who may do what.
    pub access: Access,
    /// Who signs client certificates, in PEM.
    pub client_ca: Vec<u8>,
    /// Who signs the certificates of front proxies, in PEM.
    pub proxy_ca: Option<Vec<u8>>,
    /// Keys of service account tokens.
    pub token_keys: ServiceAccountKeys,
    pub health: Health,
    pub metrics: Metrics,
    /// Priority and fairness, unless it is switched off.
    pub flow_control: Option<FlowControl>,
    /// Where everything is kept that no flag puts elsewhere.
    pub backend: Backend,
    pub shutdown: Shutdown,
    /// What is served of custom resources, once it is.
    pub custom: OnceLock<Weak<dyn CustomEndpoints>>,
}

/// KindExtensions of kinds by name. What is not said otherwise is what a server does whose kinds have none.
#[async_trait]
pub trait KindExtensions: Send + Sync {
    /// Who is let in, and who may do what: from flags, and from what is stored.
    fn access(&self, server: &Server, _: &Arc<Informers>) -> Result<Access, serving::Error> {
        server.access()
    }

    /// Where Services of the cluster are reached.
    fn service_addresses(&self, _: &Server, _: &Arc<Informers>) -> Arc<dyn ServiceAddress> {
        Arc::new(NoServices)
    }

    /// Where other servers of the cluster are reached.
    fn peer_addresses(&self, _: &ServerContext) -> Arc<dyn PeerAddresses> {
        Arc::new(NoPeers)
    }

    /// How many seconds objects of a kind live after they were last written; 0 for ever.
    fn time_to_live(&self, _: &'static KindDef, _: &Options) -> u64 {
        0
    }

    /// Whether writes of a kind cost more than the size of the body says: it holds programs, or is compared with
    /// everything of its kind. They run in the work pool.
    fn is_costly(&self, _: &'static KindDef) -> bool {
        false
    }

    /// Admission for all resources.
    fn admission(&self, _: &Arc<ServerContext>) -> Result<Arc<dyn Admission>, serving::Error> {
        Ok(Arc::new(AdmissionChain(Vec::new())))
    }

    /// Handlers of a resource's subresources; of a virtual resource itself under the empty name.
    fn handlers(
        &self,
        _: &'static KindDef,
        _: &'static ResourceDef,
        _: &Arc<ServerContext>,
    ) -> HashMap<&'static str, Arc<dyn SubresourceHandler>> {
        HashMap::new()
    }

    /// Makes the objects that a server begins with, and begins what it does of its own accord. Runs before `/readyz` is good.
    async fn bootstrap(&self, _: &Arc<ServerContext>, _: &Arc<Loopback>) -> Result<(), Status> {
        Ok(())
    }
}
