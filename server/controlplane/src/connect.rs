//! Connections to containers, pods, services, and nodes: `exec`, `attach`, `portforward`, `log`,
//! `proxy`.
//!
//! This module resolves and validates the target (upstream's `*Location` functions); [`::proxy`]
//! transfers the bytes.

mod containers;
mod kubelets;
mod log;
mod proxy;
mod streams;

use std::sync::Arc;

use async_trait::async_trait;
use endpoints::{ConnectRequest, SubresourceHandler};
use generated::core::v1::Pod;
use http::Method;
use machinery::reflect::{Owned, Struct};
use machinery::status::Status;
use options::Options;
use registry::Stores;
use request::{Request, Response};
use telemetry::metrics::StreamMetrics;
use webhook::Services;

use crate::reviews::typed;

/// The type of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ConnectionType {
    Exec,
    Attach,
    PortForward,
    Log,
    PodProxy,
    ServiceProxy,
    NodeProxy,
}

/// Handler of a subresource that opens a connection.
pub struct Connect {
    pub stores: Arc<Stores>,
    pub options: Arc<Options>,
    /// Connects to kubelets, pods and services.
    pub services: Arc<Services>,
    pub metrics: StreamMetrics,
    pub to: ConnectionType,
}

impl Connect {
    /// Applies the configured bandwidth limit to a location.
    fn paced(&self, location: ::proxy::Location) -> ::proxy::Location {
        let bytes_per_second = self.options.requests.connection_bytes_per_second;
        ::proxy::Location { bytes_per_second, ..location }
    }
}

const PROXIED: [Method; 7] =
    [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::HEAD, Method::OPTIONS];

#[async_trait]
impl SubresourceHandler for Connect {
    fn connects(&self) -> &[Method] {
        match self.to {
            // WebSocket upgrades use GET.
            ConnectionType::Exec | ConnectionType::Attach | ConnectionType::PortForward => &[Method::GET, Method::POST],
            ConnectionType::Log => &[Method::GET],
            ConnectionType::PodProxy | ConnectionType::ServiceProxy | ConnectionType::NodeProxy => &PROXIED,
        }
    }

    fn produces(&self) -> Option<&'static str> {
        matches!(self.to, ConnectionType::Log).then_some("text/plain")
    }

    fn takes_subpath(&self) -> bool {
        matches!(self.to, ConnectionType::PodProxy | ConnectionType::ServiceProxy | ConnectionType::NodeProxy)
    }

    async fn connect(&self, connected: ConnectRequest<'_>, request: Request) -> Result<Response, Status> {
        match self.to {
            ConnectionType::Exec => self.exec(connected, request).await,
            ConnectionType::Attach => self.attach(connected, request).await,
            ConnectionType::PortForward => self.port_forward(connected, request).await,
            ConnectionType::Log => self.log(connected).await,
            ConnectionType::PodProxy => self.proxy_to_pod(connected, request).await,
            ConnectionType::ServiceProxy => self.proxy_to_service(connected, request).await,
            ConnectionType::NodeProxy => self.proxy_to_node(connected, request).await,
        }
    }
}

impl Connect {
    async fn pod(&self, connected: &ConnectRequest<'_>) -> Result<Pod, Status> {
        self.get("pods", &connected.attributes.namespace, &connected.attributes.name).await
    }

    async fn get<T: Struct>(&self, plural: &'static str, namespace: &str, name: &str) -> Result<T, Status> {
        let store = self.stores.get(&("", plural));
        let store = store.ok_or_else(|| Status::internal(format!("{plural} are not stored")))?;
        typed(store.get(namespace, name, "").await?)
    }
}

/// Runs admission on the options of a connection.
async fn admitted<T: Struct>(connected: &ConnectRequest<'_>, options: T) -> Result<T, Status> {
    let mut options = Owned::of(options);
    connected.admit(&mut options).await?;
    typed(options)
}
