//! The servers of a cluster: each keeps a key of its own in the store for as long as it lives (`reconcilers.Leases`).

use std::net::IpAddr;

use generated::core::v1::{EndpointAddress, EndpointSubset, Endpoints};
use machinery::envelope;
use machinery::reflect::Ref;
use machinery::status::Status;
use registry::Backend;
use storage::{KeyRange, ListOptions, Txn};

/// For how long a server counts as alive after it was last heard of, in seconds (`DefaultEndpointReconcilerTTL`).
const SECONDS: u64 = 15;

/// Where the keys are. Upstream's servers keep theirs in the same place.
pub struct Masters {
    backend: Backend,
}

impl Masters {
    pub fn new(backend: Backend) -> Self {
        Masters { backend }
    }

    /// Says that the server at this address lives.
    pub async fn renew(&self, address: IpAddr) -> Result<(), Status> {
        let address_of = |ip: String| EndpointAddress { ip, ..EndpointAddress::default() };
        let addresses = vec![address_of(address.to_string())];
        let subsets = vec![EndpointSubset { addresses, ..EndpointSubset::default() }];
        let mut value = Vec::new();
        envelope::encode_object("v1", "Endpoints", Ref::of(&Endpoints { subsets, ..Endpoints::default() }), &mut value);
        self.commit(Txn::put(self.key(address), value).with_ttl(SECONDS)).await
    }

    /// Takes that back.
    pub async fn remove(&self, address: IpAddr) -> Result<(), Status> {
        self.commit(Txn::delete(self.key(address))).await
    }

    /// The addresses of all servers that live, in order.
    pub async fn all(&self) -> Result<Vec<IpAddr>, Status> {
        let prefix = self.prefix();
        let range = KeyRange::prefix(prefix.clone());
        let listed = self.backend.store.list(range, ListOptions::default()).await.map_err(Status::internal)?;
        let address = |key: &[u8]| std::str::from_utf8(key.strip_prefix(prefix.as_bytes())?).ok()?.parse().ok();
        let mut addresses: Vec<IpAddr> = listed.kvs.iter().filter_map(|kv| address(&kv.key)).collect();
        addresses.sort();
        Ok(addresses)
    }

    async fn commit(&self, txn: Txn) -> Result<(), Status> {
        self.backend.store.commit(txn).await.map(drop).map_err(Status::internal)
    }

    fn key(&self, address: IpAddr) -> String {
        format!("{}{address}", self.prefix())
    }

    fn prefix(&self) -> String {
        format!("{}/masterleases/", self.backend.prefix)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use storage::EmbeddedStore;

    use super::*;

    #[tokio::test]
    async fn servers_know_of_each_other() {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(EmbeddedStore::open(directory.path()).unwrap());
        let masters = Masters::new(Backend::start(store, "/registry").await.unwrap());
        let [one, two] = ["10.0.0.2", "10.0.0.10"].map(|text| text.parse().unwrap());
        masters.renew(two).await.unwrap();
        masters.renew(one).await.unwrap();
        masters.renew(one).await.unwrap();
        assert_eq!(masters.all().await.unwrap(), [one, two]);
        masters.remove(one).await.unwrap();
        assert_eq!(masters.all().await.unwrap(), [two]);
    }
}
