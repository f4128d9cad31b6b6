//! Interface to kinds with their own behaviour, which descriptors cannot express. The crate that
//! knows the kinds by name implements it.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, Weak};

use async_trait::async_trait;
use authn::tokens::ServiceAccountKeys;
use flowcontrol::FlowControl;
use machinery::catalog::{Catalog, KindDef, ResourceDef};
use machinery::status::Status;
use options::Options;
use registry::{Backend, Informers, ResourceStore, Stores};
use serving::health::Health;
use serving::shutdown::Shutdown;
use serving::{Access, Server};
use telemetry::metrics::Metrics;
use webhook::{NoServices, ServiceAddress};

use crate::admission::{Admission, AdmissionChain};
use crate::custom_endpoints::CustomEndpoints;
use crate::discovery::Discovery;
use crate::endpoint::{Endpoint, SubresourceHandler};
use crate::loopback::Loopback;
use crate::peers::{NoPeers, PeerAddresses};

/// Dependencies of kind extensions.
pub struct ServerContext {
    pub catalog: &'static Catalog,
    pub options: Arc<Options>,
    pub stores: Arc<Stores>,
    pub informers: Arc<Informers>,
    /// The group versions that this server and other servers serve.
    pub discovery: Arc<Discovery>,
    /// Webhooks and aggregated servers.
    pub services: Arc<webhook::Services>,
    /// Authenticators and authorizers.
    pub access: Access,
    /// CA bundle of client certificates, in PEM.
    pub client_ca: Vec<u8>,
    /// CA bundle of the serving certificate of this server, in PEM.
    pub server_ca: Vec<u8>,
    /// CA bundle of front proxy certificates, in PEM.
    pub proxy_ca: Option<Vec<u8>>,
    /// Keys of service account tokens.
    pub token_keys: ServiceAccountKeys,
    pub health: Health,
    pub metrics: Metrics,
    /// Priority and fairness; `None` when disabled.
    pub flow_control: Option<FlowControl>,
    /// The default storage backend; flags can select others per resource.
    pub backend: Backend,
    pub shutdown: Shutdown,
    /// Endpoints of custom resources, once that server is built.
    pub custom: OnceLock<Weak<dyn CustomEndpoints>>,
}

impl ServerContext {
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
            authorizer: self.access.authorizer.clone(),
            features: options.features.clone(),
            clock: self.backend.clock.clone(),
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
    fn peer_addresses(&self, _: &ServerContext) -> Arc<dyn PeerAddresses> {
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
    fn admission(&self, _: &Arc<ServerContext>) -> Result<Arc<dyn Admission>, serving::Error> {
        Ok(Arc::new(AdmissionChain(Vec::new())))
    }

    /// Returns the handlers of a resource's subresources. A virtual resource itself has the empty
    /// name.
    fn handlers(
        &self,
        _: &'static KindDef,
        _: &'static ResourceDef,
        _: &Arc<ServerContext>,
    ) -> HashMap<&'static str, Arc<dyn SubresourceHandler>> {
        HashMap::new()
    }

    /// Creates the initial objects and starts background work. Runs before `/readyz` succeeds.
    async fn bootstrap(&self, _: &Arc<ServerContext>, _: &Arc<Loopback>) -> Result<(), Status> {
        Ok(())
    }
}
