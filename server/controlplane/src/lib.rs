//! Behavior of built-in kinds: subresources, authorization, and objects that the server creates at
//! start.

mod aggregation;
mod bootstrap;
mod budgets;
mod component_status;
mod connect;
mod error;
mod flow_control;
mod identity;
mod leases;
mod nodes;
mod peers;
mod pods;
mod rbac;
mod reviews;
mod services;
mod tokens;
mod trust;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use authz::rbac::RuleSource;
use connect::{Connect, ConnectionType};
use endpoints::{Admission, KindExtensions, Loopback, PeerAddresses, ServerContext, SubresourceHandler};
use machinery::catalog::{KindDef, ResourceDef};
use machinery::status::Status;
use nodes::NodeAuthorizer;
use options::Options;
use rbac::EscalationCheck;
use registry::{Backend, Informers};
use serving::{Access, Server};
use webhook::ServiceAddress;

pub use error::Error;

/// Builds the admission plugins of Kubernetes.
///
/// A function makes the crates of this type and of the plugins independent of each other, so that
/// cargo compiles both at once.
pub type BuildAdmission = fn(&ServerContext) -> Result<Arc<dyn Admission>, serving::Error>;

/// The extensions of Kubernetes' built-in kinds.
pub struct ControlPlane {
    admission: BuildAdmission,
}

impl ControlPlane {
    /// Creates the extensions with admission plugins.
    pub fn new(admission: BuildAdmission) -> Self {
        ControlPlane { admission }
    }
}

#[async_trait]
impl KindExtensions for ControlPlane {
    fn access(&self, server: &Server, informers: &Arc<Informers>) -> Result<Access, serving::Error> {
        let roles: Arc<dyn RuleSource> = Arc::new(rbac::Index::start(informers.stores()));
        let authentication = tokens::authenticators(server.authentication()?, server, informers.stores())?;
        let nodes = || match NodeAuthorizer::start(informers, &server.options.features) {
            Ok(nodes) => Ok(Arc::new(nodes) as _),
            Err(error) => Err(options::Error::invalid(error).into()),
        };
        Ok(Access { authentication, authorizer: server.authorizer(roles.clone(), nodes)?, roles })
    }

    fn service_addresses(&self, server: &Server, informers: &Arc<Informers>) -> Arc<dyn ServiceAddress> {
        let to_endpoints = server.options.aggregation.to_endpoints;
        Arc::new(aggregation::ServiceResolver::new(informers, to_endpoints, server.address().ok()))
    }

    fn peer_addresses(&self, backend: &Backend) -> Arc<dyn PeerAddresses> {
        Arc::new(peers::PeerEndpointLeases::new(backend))
    }

    fn other_keys(&self) -> &'static [(&'static str, &'static str, &'static str)] {
        // Upstream encrypts the node port allocation like services.
        &[(services::NODE_PORTS_KEY, "", "services")]
    }

    fn time_to_live(&self, kind: &'static KindDef, options: &Options) -> u64 {
        if kind.kind == "Event" { options.event_ttl.as_secs() } else { 0 }
    }

    fn is_costly(&self, kind: &'static KindDef) -> bool {
        match kind.group {
            // Writes compile CEL programs.
            "admissionregistration.k8s.io" | "apiextensions.k8s.io" | "resource.k8s.io" => true,
            // Writes compare the rules with all rules of the user.
            "rbac.authorization.k8s.io" => true,
            _ => false,
        }
    }

    fn admission(&self, environment: &ServerContext) -> Result<Arc<dyn Admission>, serving::Error> {
        let admission = (self.admission)(environment)?;
        Ok(Arc::new(EscalationCheck {
            admission,
            stores: environment.stores.clone(),
            authorizer: environment.access.authorizer.clone(),
            roles: environment.access.roles.clone(),
        }))
    }

    fn handlers(
        &self,
        kind: &'static KindDef,
        _resource: &'static ResourceDef,
        environment: &ServerContext,
    ) -> HashMap<&'static str, Arc<dyn SubresourceHandler>> {
        match (kind.group, kind.kind) {
            ("", "ServiceAccount") => HashMap::from([("token", issuer(environment))]),
            ("", "ComponentStatus") => HashMap::from([("", components(environment))]),
            ("", "Binding") => HashMap::from([("", Arc::new(pods::BindingHandler::new(&environment.stores)) as _)]),
            ("", "Pod") => handlers_of_pods(environment),
            ("", "Service") => HashMap::from([("proxy", connect(environment, ConnectionType::ServiceProxy))]),
            ("", "Node") => HashMap::from([("proxy", connect(environment, ConnectionType::NodeProxy))]),
            _ => reviews::handlers(kind, &environment.access),
        }
    }

    async fn bootstrap(&self, environment: &ServerContext, loopback: &Arc<Loopback>) -> Result<(), Status> {
        bootstrap::all(environment, loopback).await
    }
}

fn handlers_of_pods(environment: &ServerContext) -> HashMap<&'static str, Arc<dyn SubresourceHandler>> {
    let stores = &environment.stores;
    HashMap::from([
        ("binding", Arc::new(pods::BindingHandler::new(stores)) as _),
        ("eviction", Arc::new(pods::Eviction::new(stores, &environment.backend.clock)) as _),
        ("exec", connect(environment, ConnectionType::Exec)),
        ("attach", connect(environment, ConnectionType::Attach)),
        ("portforward", connect(environment, ConnectionType::PortForward)),
        ("log", connect(environment, ConnectionType::Log)),
        ("proxy", connect(environment, ConnectionType::PodProxy)),
    ])
}

fn connect(environment: &ServerContext, to: ConnectionType) -> Arc<dyn SubresourceHandler> {
    Arc::new(Connect {
        stores: environment.stores.clone(),
        options: environment.options.clone(),
        services: environment.services.clone(),
        metrics: environment.metrics.streams.clone(),
        to,
    })
}

fn issuer(environment: &ServerContext) -> Arc<dyn SubresourceHandler> {
    Arc::new(tokens::Issuer {
        lookup: tokens::ServiceAccountTokenGetter(environment.stores.clone()),
        options: environment.options.clone(),
        clock: environment.backend.clock.clone(),
        keys: environment.token_keys.clone(),
    })
}

fn components(environment: &ServerContext) -> Arc<dyn SubresourceHandler> {
    Arc::new(component_status::Components {
        main: environment.backend.store.clone(),
        stores: environment.stores.clone(),
        services: environment.services.clone(),
    })
}
