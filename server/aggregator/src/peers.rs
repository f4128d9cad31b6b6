//! Peer API servers of the cluster, of another version or with other APIs enabled (KEP-4020;
//! upstream: `apiserver/pkg/util/peerproxy`).
//!
//! [`endpoints::Members`] has their identities, and [`PeerAddresses`] their addresses. This crate
//! does not depend on leases.

mod filter;
mod follow;
mod metrics;

use std::sync::Arc;

use endpoints::{Discovery, PeerAddresses};
use prometheus::Registry;
use webhook::{Client, ClientIdentity, Error, Route, Trust};

pub use filter::WithPeers;
use metrics::PeerMetrics;

/// Marks a proxied request. The receiver serves it itself, and does not proxy it again.
const PEER_PROXIED: http::HeaderName = http::HeaderName::from_static("x-kubernetes-peer-proxied");
/// The server name in the certificates of all API servers of a cluster.
const SERVER_NAME: &str = "kubernetes.default.svc";

/// Connects to peers.
pub struct PeerProxy {
    client: Client,
    addresses: Arc<dyn PeerAddresses>,
    discovery: Arc<Discovery>,
    metrics: PeerMetrics,
}

impl PeerProxy {
    /// Creates a client for peers. It verifies their certificates with these authorities, in PEM,
    /// and authenticates as a front proxy.
    ///
    /// # Errors
    /// Returns an error for malformed certificates or keys.
    pub fn new(
        authorities: Vec<u8>,
        identity: Option<ClientIdentity>,
        route: Route,
        addresses: Arc<dyn PeerAddresses>,
        discovery: Arc<Discovery>,
        registry: &Registry,
    ) -> Result<Self, Error> {
        let server_name = Some(SERVER_NAME.to_owned());
        let client = Client::new(&Trust { authorities, identity, server_name, route, ..Trust::default() })?;
        Ok(PeerProxy { client, addresses, discovery, metrics: PeerMetrics::register(registry) })
    }
}
