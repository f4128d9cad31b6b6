//! The parts of a server, which the code that assembles its components distributes.

use std::sync::Arc;

use authn::tokens::ServiceAccountKeys;
use flowcontrol::FlowControl;
use machinery::catalog::Catalog;
use options::Options;
use registry::{Backend, Informers, Stores};
use serving::Access;
use serving::health::Health;
use serving::shutdown::Shutdown;
use telemetry::metrics::Metrics;

use crate::custom_endpoints::LateCustomEndpoints;
use crate::discovery::Discovery;
use crate::endpoint_builder::EndpointBuilder;

/// All parts of a server.
///
/// Only code that assembles components names this type. A component takes the parts that it uses
/// (`tests/structure.rs`).
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
    pub custom: LateCustomEndpoints,
}

impl ServerContext {
    /// Returns the parts that every endpoint has.
    pub fn endpoints(&self) -> EndpointBuilder {
        EndpointBuilder {
            catalog: self.catalog,
            options: self.options.clone(),
            authorizer: self.access.authorizer.clone(),
            clock: self.backend.clock.clone(),
        }
    }
}
