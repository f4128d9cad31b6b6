//! Store keys with a TTL that the servers of a cluster renew, at the keys of upstream's servers
//! (`reconcilers.Leases`, `PeerEndpointLeaseReconciler`).

use std::sync::Arc;
use std::time::Duration;

use generated::core::v1::Endpoints;
use machinery::reflect::{Owned, Ref, Struct};
use machinery::status::Status;
use machinery::{envelope, json, protobuf};
use registry::Backend;
use serving::shutdown::{Phase, Shutdown};
use storage::{KeyRange, ListOptions, Store, Txn};
use tokio::task::JoinHandle;

/// TTL of the keys in seconds (`DefaultEndpointReconcilerTTL`).
const SECONDS: u64 = 15;
/// The renewal interval (`DefaultEndpointReconcilerInterval`).
pub const INTERVAL: Duration = Duration::from_secs(10);
/// Timeout for the release at shutdown.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

/// The keys below a prefix.
pub struct Leases {
    store: Arc<dyn Store>,
    /// Ends with a slash.
    prefix: String,
}

impl Leases {
    /// Creates the accessor of the keys below `name`.
    pub fn new(backend: &Backend, name: &str) -> Self {
        Leases { store: backend.store.clone(), prefix: format!("{}/{name}/", backend.prefix) }
    }

    /// Writes or renews the key of a server with its endpoints.
    pub async fn renew(&self, server: &str, endpoints: &Endpoints) -> Result<(), Status> {
        let mut value = Vec::new();
        envelope::encode_object("v1", "Endpoints", Ref::of(endpoints), &mut value);
        self.commit(Txn::put(self.key(server), value).with_ttl(SECONDS)).await
    }

    /// Deletes the key of a server.
    pub async fn remove(&self, server: &str) -> Result<(), Status> {
        self.commit(Txn::delete(self.key(server))).await
    }

    /// Lists all live servers.
    pub async fn servers(&self) -> Result<Vec<String>, Status> {
        let range = KeyRange::prefix(self.prefix.clone());
        let listed = self.store.list(range, ListOptions::default()).await.map_err(Status::internal)?;
        let server = |key: &[u8]| String::from_utf8(key.strip_prefix(self.prefix.as_bytes())?.to_vec()).ok();
        Ok(listed.kvs.iter().filter_map(|kv| server(&kv.key)).collect())
    }

    /// Returns the endpoints of a server, if it is live.
    pub async fn endpoints_of(&self, server: &str) -> Result<Option<Endpoints>, Status> {
        let found = self.store.get(self.key(server).as_bytes(), None).await.map_err(Status::internal)?;
        found.kv.map(|kv| decode(&kv.value)).transpose()
    }

    async fn commit(&self, txn: Txn) -> Result<(), Status> {
        self.store.commit(txn).await.map(drop).map_err(Status::internal)
    }

    fn key(&self, server: &str) -> String {
        format!("{}{server}", self.prefix)
    }
}

/// Decodes endpoints. Upstream's servers write JSON if `--storage-media-type` requires it.
fn decode(stored: &[u8]) -> Result<Endpoints, Status> {
    let mut value = Owned::new(Endpoints::def());
    match envelope::is_envelope(stored) {
        true => {
            let message = envelope::split(stored).map_err(Status::internal)?.raw;
            protobuf::decode(message, value.as_mut()).map_err(Status::internal)?;
        }
        false => json::decode(stored, value.as_mut(), &mut json::Issues::ignore()).map_err(Status::internal)?,
    }
    value.into_inner().map_err(|_| Status::internal("a lease is no Endpoints"))
}

/// Aborts `renewal` at shutdown and runs `release`.
///
/// The listener stays open until the release has finished or timed out.
pub fn until_shutdown(
    shutdown: &Shutdown,
    what: &'static str,
    renewal: JoinHandle<()>,
    release: impl Future<Output = Result<(), Status>> + Send + 'static,
) {
    let shutdown = shutdown.clone();
    let shutdown_task = shutdown.enter();
    tokio::spawn(async move {
        shutdown.reached(Phase::Initiated).await;
        renewal.abort();
        // A renewal that is still running could undo the release.
        let _ = renewal.await;
        match tokio::time::timeout(RELEASE_TIMEOUT, release).await {
            Ok(Ok(())) => {}
            Ok(Err(status)) => tracing::warn!(
                what,
                why = status.message,
                "cannot release the lease at shutdown; it expires after its TTL"
            ),
            Err(_) => tracing::warn!(what, "releasing the lease at shutdown timed out; it expires after its TTL"),
        }
        drop(shutdown_task);
    });
}

#[cfg(test)]
mod tests {
    use storage::EmbeddedStore;

    use super::*;

    #[tokio::test]
    async fn stores_endpoints_of_servers() {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(EmbeddedStore::open(directory.path()).unwrap());
        let backend = Backend::start(store, "/registry").await.unwrap();
        let leases = Leases::new(&backend, "peerserverleases");
        let mut endpoints = Endpoints::default();
        endpoints.metadata.labels.insert("apiserverIdentity".into(), "a".into());
        for server in ["b", "a", "a"] {
            leases.renew(server, &endpoints).await.unwrap();
        }
        assert_eq!(leases.servers().await.unwrap(), ["a", "b"]);
        assert_eq!(leases.endpoints_of("a").await.unwrap(), Some(endpoints));
        leases.remove("a").await.unwrap();
        assert_eq!(leases.servers().await.unwrap(), ["b"]);
        assert_eq!(leases.endpoints_of("a").await.unwrap(), None);
        let json = br#"{"kind":"Endpoints","apiVersion":"v1","subsets":[{"addresses":[{"ip":"10.0.0.1"}]}]}"#;
        assert_eq!(decode(json).unwrap().subsets[0].addresses[0].ip, "10.0.0.1");
    }
}
