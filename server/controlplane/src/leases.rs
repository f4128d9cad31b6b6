//! Keys that the servers of a cluster keep in the store for as long as they live, where upstream's servers keep theirs (`reconcilers.Leases`,
//! `PeerEndpointLeaseReconciler`).

use std::sync::Arc;
use std::time::Duration;

use endpoints::ServerContext;
use generated::core::v1::Endpoints;
use machinery::reflect::{Owned, Ref, Struct};
use machinery::status::Status;
use machinery::{envelope, json, protobuf};
use registry::Backend;
use serving::shutdown::Phase;
use storage::{KeyRange, ListOptions, Store, Txn};
use tokio::task::JoinHandle;

/// For how long a server counts as alive after it was last heard of, in seconds (`DefaultEndpointReconcilerTTL`).
const SECONDS: u64 = 15;
/// How often servers are to be heard of (`DefaultEndpointReconcilerInterval`).
pub const INTERVAL: Duration = Duration::from_secs(10);
/// How long a server that stops may take to say so.
const LEAVE: Duration = Duration::from_secs(5);

/// The keys below a prefix.
pub struct Leases {
    store: Arc<dyn Store>,
    /// With a slash at its end.
    prefix: String,
}

impl Leases {
    /// The keys that the store has under this name.
    pub fn new(backend: &Backend, name: &str) -> Self {
        Leases { store: backend.store.clone(), prefix: format!("{}/{name}/", backend.prefix) }
    }

    /// Says that a server lives, and where.
    pub async fn renew(&self, server: &str, place: &Endpoints) -> Result<(), Status> {
        let mut value = Vec::new();
        envelope::encode_object("v1", "Endpoints", Ref::of(place), &mut value);
        self.commit(Txn::put(self.key(server), value).with_ttl(SECONDS)).await
    }

    /// Takes that back.
    pub async fn remove(&self, server: &str) -> Result<(), Status> {
        self.commit(Txn::delete(self.key(server))).await
    }

    /// All servers that live.
    pub async fn servers(&self) -> Result<Vec<String>, Status> {
        let range = KeyRange::prefix(self.prefix.clone());
        let listed = self.store.list(range, ListOptions::default()).await.map_err(Status::internal)?;
        let server = |key: &[u8]| String::from_utf8(key.strip_prefix(self.prefix.as_bytes())?.to_vec()).ok();
        Ok(listed.kvs.iter().filter_map(|kv| server(&kv.key)).collect())
    }

    /// Where a server is, if it lives.
    pub async fn place(&self, server: &str) -> Result<Option<Endpoints>, Status> {
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

/// Upstream's servers write JSON where they are told to (`--storage-media-type`).
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

/// Ends what keeps something of this server where others see it when the server is asked to stop, and then has it taken back. The port stays
/// open until that is done, or takes too long.
pub fn until_shutdown(
    environment: &ServerContext,
    what: &'static str,
    keeping: JoinHandle<()>,
    leave: impl Future<Output = Result<(), Status>> + Send + 'static,
) {
    let shutdown = environment.shutdown.clone();
    let to_do = shutdown.enter();
    tokio::spawn(async move {
        shutdown.reached(Phase::Initiated).await;
        keeping.abort();
        // Only once it has ended is nothing kept any more that is taken back here.
        let _ = keeping.await;
        match tokio::time::timeout(LEAVE, leave).await {
            Ok(Ok(())) => {}
            Ok(Err(status)) => tracing::warn!(what, why = status.message, "taking back what others see of this server"),
            Err(_) => tracing::warn!(what, "taking back what others see of this server takes too long"),
        }
        drop(to_do);
    });
}

#[cfg(test)]
mod tests {
    use storage::EmbeddedStore;

    use super::*;

    #[tokio::test]
    async fn servers_say_where_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(EmbeddedStore::open(directory.path()).unwrap());
        let backend = Backend::start(store, "/registry").await.unwrap();
        let leases = Leases::new(&backend, "peerserverleases");
        let mut place = Endpoints::default();
        place.metadata.labels.insert("apiserverIdentity".into(), "a".into());
        for server in ["b", "a", "a"] {
            leases.renew(server, &place).await.unwrap();
        }
        assert_eq!(leases.servers().await.unwrap(), ["a", "b"]);
        assert_eq!(leases.place("a").await.unwrap(), Some(place));
        leases.remove("a").await.unwrap();
        assert_eq!(leases.servers().await.unwrap(), ["b"]);
        assert_eq!(leases.place("a").await.unwrap(), None);
        let json = br#"{"kind":"Endpoints","apiVersion":"v1","subsets":[{"addresses":[{"ip":"10.0.0.1"}]}]}"#;
        assert_eq!(decode(json).unwrap().subsets[0].addresses[0].ip, "10.0.0.1");
    }
}
