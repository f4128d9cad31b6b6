//! Where objects are kept: one store, and another one for each resource that an override names.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::metered_store::{MeteredStore, StoreMetrics};
use encryption::{EncryptedStore, Encryption, GroupResource, KeySpace};
use machinery::catalog::Catalog;
use machinery::features;
use registry::Backend;
use serving::options::{EtcdOptions, Options};
use storage::{EmbeddedOptions, EmbeddedStore, EtcdStore, Result, Store};

/// The stores of a server, each behind its cache.
pub struct Backends {
    main: Opened,
    /// The stores of overrides, by their servers in order.
    others: BTreeMap<Vec<String>, Opened>,
    /// Group and plural, and the servers of their store.
    overrides: BTreeMap<(String, String), Vec<String>>,
}

/// A store that is in use.
pub struct Opened {
    pub backend: Backend,
    medium: Medium,
}

/// What a store keeps its objects in.
enum Medium {
    Etcd(Arc<EtcdStore>),
    /// A file; recent writes are in a log beside it.
    File(PathBuf),
    /// Whatever the program chose.
    Other,
}

impl Backends {
    /// Opens the store in the data directory, or connects to etcd, unless one was `chosen`.
    pub async fn open(
        catalog: &Catalog,
        options: &Options,
        chosen: Option<Arc<dyn Store>>,
        encryption: Arc<Encryption>,
        metrics: &StoreMetrics,
    ) -> Result<Self> {
        let etcd = &options.storage.etcd;
        let opening = Opening { options, encryption, metrics, keys: Arc::new(key_space(catalog, options)) };
        let main = match chosen {
            Some(store) => opening.opened(store, Medium::Other),
            None if etcd.servers.is_empty() => opening.embedded()?,
            None => opening.connect(&etcd.servers).await?,
        };
        let mut backends = Backends { main, others: BTreeMap::new(), overrides: BTreeMap::new() };
        for each in &etcd.overrides {
            let mut servers = each.servers.clone();
            servers.sort();
            if !backends.others.contains_key(&servers) {
                backends.others.insert(servers.clone(), opening.connect(&servers).await?);
            }
            backends.overrides.insert((each.group.clone(), each.resource.clone()), servers);
        }
        Ok(backends)
    }

    /// Where a resource is kept, named by the group it is stored in and its plural.
    pub fn of(&self, group: &str, plural: &str) -> &Backend {
        let named = self.overrides.iter().find(|((g, p), _)| g == group && p == plural);
        let other = named.and_then(|(_, servers)| self.others.get(servers));
        &other.unwrap_or(&self.main).backend
    }

    /// Where everything is kept that no override names.
    pub fn main(&self) -> &Backend {
        &self.main.backend
    }

    /// All of them, the one of everything that no override names first.
    pub fn all(&self) -> impl Iterator<Item = &Opened> {
        std::iter::once(&self.main).chain(self.others.values())
    }

    /// Reads everything, and begins to follow it.
    pub async fn start(&self) -> Result<()> {
        for opened in self.all() {
            opened.backend.cache.start().await?;
        }
        Ok(())
    }

    /// Waits until one of the stores will never take a write again, and says why.
    pub async fn failed(&self) -> storage::Error {
        let stores = self.all().map(|opened| opened.backend.store.failed());
        futures_util::future::select_all(stores).await.0
    }

    /// Finishes what waits and releases everything.
    pub async fn close(&self) -> Result<()> {
        for opened in self.all() {
            opened.backend.store.close().await?;
        }
        Ok(())
    }
}

impl Opened {
    /// How many bytes the store takes: those of the file, or what the first etcd server that answers says.
    pub async fn size(&self) -> Option<u64> {
        match &self.medium {
            Medium::Etcd(etcd) => etcd.database_sizes().await.into_iter().find_map(|size| size.bytes),
            Medium::File(file) => std::fs::metadata(file).ok().map(|found| found.len()),
            Medium::Other => None,
        }
    }
}

/// What stores are opened with.
struct Opening<'o> {
    options: &'o Options,
    encryption: Arc<Encryption>,
    keys: Arc<KeySpace>,
    metrics: &'o StoreMetrics,
}

impl Opening<'_> {
    fn embedded(&self) -> Result<Opened> {
        let compaction_interval = self.options.storage.compaction_interval;
        let durable = self.options.storage.durable;
        let embedded = EmbeddedOptions { compaction_interval, durable, ..EmbeddedOptions::default() };
        let dir = self.options.data_dir.join("store");
        let file = EmbeddedStore::database(&dir);
        Ok(self.opened(Arc::new(EmbeddedStore::open_with(dir, embedded)?), Medium::File(file)))
    }

    async fn connect(&self, servers: &[String]) -> Result<Opened> {
        let store = Arc::new(EtcdStore::connect(etcd_options(self.options, servers)).await?);
        Ok(self.opened(store.clone(), Medium::Etcd(store)))
    }

    fn opened(&self, store: Arc<dyn Store>, medium: Medium) -> Opened {
        let store = Arc::new(EncryptedStore::new(store, self.encryption.clone(), self.keys.clone()));
        let store = Arc::new(MeteredStore::new(store, self.metrics.clone(), &self.options.storage.prefix));
        let backend = Backend::new(store, &self.options.storage.prefix);
        let (as_json, collects_garbage) = (self.options.storage.as_json, self.options.storage.collects_garbage);
        let tells_corrupt = self.options.features.enabled(features::AllowUnsafeMalformedObjectDeletion);
        Opened { backend: Backend { as_json, collects_garbage, tells_corrupt, ..backend }, medium }
    }
}

/// The declared resources by their keys.
fn key_space(catalog: &Catalog, options: &Options) -> KeySpace {
    let kept = catalog.kinds.iter().filter_map(|kind| kind.resource).filter(|r| !r.key_prefix.is_empty());
    let resources = kept.map(|r| {
        let of = GroupResource { group: r.storage.0.to_owned(), resource: r.plural.to_owned() };
        (r.key_prefix.to_owned(), of)
    });
    // Upstream stores the allocation of node ports with the configuration of services.
    let services = GroupResource { group: String::new(), resource: "services".into() };
    let allocations = [("ranges/servicenodeports".to_owned(), services)];
    KeySpace::new(&options.storage.prefix, resources.chain(allocations))
}

/// How the store speaks to some etcd servers.
pub fn etcd_options(options: &Options, servers: &[String]) -> storage::EtcdOptions {
    let EtcdOptions { ca_file, certificate, lease_reuse, .. } = options.storage.etcd.clone();
    storage::EtcdOptions {
        servers: servers.to_vec(),
        ca_file,
        certificate,
        compaction_interval: options.storage.compaction_interval,
        lease_reuse,
    }
}
