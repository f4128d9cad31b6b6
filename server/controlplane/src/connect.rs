//! Connections to what runs in pods and on nodes: `exec`, `attach`, `portforward`, `log`, `proxy`.
//!
//! Where a connection leads is found and checked here (upstream's `*Location` functions); nothing is dialled yet.

mod containers;
mod log;
mod proxy;

use std::sync::Arc;

use async_trait::async_trait;
use endpoints::{Connected, Environment, SubresourceHandler};
use generated::core::v1::{Node, Pod};
use http::Method;
use machinery::reflect::Struct;
use machinery::status::Status;
use serving::Response;

use crate::reviews::typed;

/// What a connection is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// To a process in a container: `exec`, `attach`.
    Container,
    /// To ports of a pod: `portforward`.
    Ports,
    Log,
    PodProxy,
    ServiceProxy,
    NodeProxy,
}

/// A subresource that stands for a connection.
pub struct Connect {
    environment: Arc<Environment>,
    to: Connection,
}

impl Connect {
    pub fn new(environment: &Arc<Environment>, to: Connection) -> Self {
        Connect { environment: environment.clone(), to }
    }
}

const PROXIED: [Method; 7] =
    [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::HEAD, Method::OPTIONS];

#[async_trait]
impl SubresourceHandler for Connect {
    fn connects(&self) -> &[Method] {
        match self.to {
            // WebSockets begin with a GET.
            Connection::Container | Connection::Ports => &[Method::GET, Method::POST],
            Connection::Log => &[Method::GET],
            Connection::PodProxy | Connection::ServiceProxy | Connection::NodeProxy => &PROXIED,
        }
    }

    async fn connect(&self, connected: Connected<'_>) -> Result<Response, Status> {
        match self.to {
            Connection::Container | Connection::Ports => {
                // Reading may not be enough to run something, whatever method asks for it.
                connected.endpoint.authorize_create(connected.attributes).await?;
                self.to_pod(&connected).await
            }
            Connection::Log => self.to_log(&connected).await,
            Connection::PodProxy => self.to_address_of_pod(&connected).await,
            Connection::ServiceProxy => self.to_service(&connected).await,
            Connection::NodeProxy => self.to_address_of_node(&connected).await,
        }
    }
}

impl Connect {
    async fn to_pod(&self, connected: &Connected<'_>) -> Result<Response, Status> {
        let pod = self.pod(connected).await?;
        if self.to == Connection::Container {
            containers::choose(&pod, connected.query.text("container"))?;
        }
        if pod.spec.node_name.is_empty() {
            return Err(Status::bad_request(format!("pod {} does not have a host assigned", pod.metadata.name)));
        }
        self.kubelet(&pod.spec.node_name).await
    }

    async fn to_log(&self, connected: &Connected<'_>) -> Result<Response, Status> {
        log::check(connected)?;
        let pod = self.pod(connected).await?;
        containers::choose(&pod, connected.query.text("container"))?;
        if pod.spec.node_name.is_empty() {
            return Ok(log::nothing());
        }
        self.kubelet(&pod.spec.node_name).await
    }

    async fn pod(&self, connected: &Connected<'_>) -> Result<Pod, Status> {
        self.get("pods", &connected.attributes.namespace, &connected.attributes.name).await
    }

    /// A node's kubelet, which has to be known first.
    async fn kubelet(&self, node: &str) -> Result<Response, Status> {
        let node: Node = self.get("nodes", "", node).await?;
        proxy::address_of_node(&node)?;
        Err(Status::not_implemented("a connection to a kubelet"))
    }

    async fn get<T: Struct>(&self, plural: &'static str, namespace: &str, name: &str) -> Result<T, Status> {
        let store = self.environment.stores.get(&("", plural));
        let store = store.ok_or_else(|| Status::internal(format!("{plural} are not stored")))?;
        typed(store.get(namespace, name, "").await?)
    }
}
