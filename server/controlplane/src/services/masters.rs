//! Addresses of live API servers, stored as keys with a TTL.

use std::net::IpAddr;

use generated::core::v1::{EndpointAddress, EndpointSubset, Endpoints};
use machinery::status::Status;
use registry::Backend;

use crate::leases::Leases;

/// Accessor of the keys.
pub struct Masters(Leases);

impl Masters {
    pub fn new(backend: &Backend) -> Self {
        Masters(Leases::new(backend, "masterleases"))
    }

    /// Writes or renews the key of a server.
    pub async fn renew(&self, address: IpAddr) -> Result<(), Status> {
        let addresses = vec![EndpointAddress { ip: address.to_string(), ..EndpointAddress::default() }];
        let subsets = vec![EndpointSubset { addresses, ..EndpointSubset::default() }];
        self.0.renew(&address.to_string(), &Endpoints { subsets, ..Endpoints::default() }).await
    }

    /// Deletes the key of a server.
    pub async fn remove(&self, address: IpAddr) -> Result<(), Status> {
        self.0.remove(&address.to_string()).await
    }

    /// Returns the sorted addresses of all live servers.
    pub async fn all(&self) -> Result<Vec<IpAddr>, Status> {
        let mut addresses: Vec<IpAddr> = self.0.servers().await?.iter().filter_map(|name| name.parse().ok()).collect();
        addresses.sort();
        Ok(addresses)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use storage::EmbeddedStore;

    use super::*;

    #[tokio::test]
    async fn lists_live_servers() {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(EmbeddedStore::open(directory.path()).unwrap());
        let masters = Masters::new(&Backend::start(store, "/registry").await.unwrap());
        let [one, two] = ["10.0.0.2", "10.0.0.10"].map(|text| text.parse().unwrap());
        masters.renew(two).await.unwrap();
        masters.renew(one).await.unwrap();
        masters.renew(one).await.unwrap();
        assert_eq!(masters.all().await.unwrap(), [one, two]);
        masters.remove(one).await.unwrap();
        assert_eq!(masters.all().await.unwrap(), [two]);
    }
}
