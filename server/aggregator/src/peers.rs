//! Other servers of the same cluster, of another version or with other APIs switched on (KEP-4020; upstream: `apiserver/pkg/util/peerproxy`).
//!
//! Who they are and where is for [`endpoints::Members`] and [`PeerAddresses`] to say; nothing here knows their leases.

mod filter;
mod follow;
mod metrics;

use std::sync::Arc;

use endpoints::{Discovery, PeerAddresses};
use prometheus::Registry;
use webhook::{Client, Error, Identity, Route, Trust};

pub use filter::WithPeers;
use metrics::PeerMetrics;

/// Says of a request that another server passed it on: who gets it answers it, or nobody does.
const PASSED_ON: http::HeaderName = http::HeaderName::from_static("x-kubernetes-peer-proxied");
/// The name that the certificates of all servers of a cluster are good for.
const SERVER_NAME: &str = "kubernetes.default.svc";

/// Reaches the other servers.
pub struct Peers {
    client: Client,
    addresses: Arc<dyn PeerAddresses>,
    discovery: Arc<Discovery>,
    metrics: PeerMetrics,
}

impl Peers {
    /// Reaches servers whose certificates these authorities sign, in PEM, known to them as a front proxy.
    ///
    /// # Errors
    /// When certificates or keys are none.
    pub fn new(
        authorities: Vec<u8>,
        identity: Option<Identity>,
        route: Route,
        addresses: Arc<dyn PeerAddresses>,
        discovery: Arc<Discovery>,
        registry: &Registry,
    ) -> Result<Self, Error> {
        let server_name = Some(SERVER_NAME.to_owned());
        let client = Client::new(&Trust { authorities, identity, server_name, route, ..Trust::default() })?;
        Ok(Peers { client, addresses, discovery, metrics: PeerMetrics::register(registry) })
    }
}
