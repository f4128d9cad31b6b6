//! Storage backends: a main store, and further ones for resources with an override.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::Server;
use crate::metered_store::{MeteredStore, StoreMetrics};
use encryption::{EncryptedStore, Encryption, GroupResource, KeySpace};
use machinery::features;
use options::{EtcdOptions, Options};
use registry::Backend;
use storage::{EmbeddedOptions, EmbeddedStore, EtcdStore, Result, Store};

/// The stores of a server, each with its cache.
pub struct Backends {
    main: Opened,
    /// Stores of overrides, by sorted list of servers.
    others: BTreeMap<Vec<String>, Opened>,
    /// Servers of the store by group and plural.
    overrides: BTreeMap<(String, String), Vec<String>>,
}

/// An open store.
pub struct Opened {
    pub backend: Backend,
    medium: Medium,
    /// The store itself, if it is the embedded one.
    embedded: Option<Arc<EmbeddedStore>>,
}

/// The medium of a store.
enum Medium {
    Etcd(Arc<EtcdStore>),
    /// The embedded database; recent writes are in a log next to it.
    File(PathBuf),
    /// A store of an embedding program.
    Other,
}

impl Backends {
    /// Opens the store in the data directory, or connects to etcd, unless the program supplies a
    /// store.
    pub async fn open(
        server: &Server,
        options: &Options,
        encryption: Arc<Encryption>,
        metrics: &StoreMetrics,
    ) -> Result<Self> {
        let etcd = &options.storage.etcd;
        let opening = Opening { options, encryption, metrics, keys: Arc::new(key_space(server, options)) };
        let main = match server.store.clone() {
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

    /// Returns the backend of a resource, by its storage group and plural.
    pub fn of(&self, group: &str, plural: &str) -> &Backend {
        let named = self.overrides.iter().find(|((g, p), _)| g == group && p == plural);
        let other = named.and_then(|(_, servers)| self.others.get(servers));
        &other.unwrap_or(&self.main).backend
    }

    /// Returns the backend of resources without an override.
    pub fn main(&self) -> &Backend {
        &self.main.backend
    }

    /// Returns the store of the data directory, if it is the main store.
    pub fn embedded(&self) -> Option<Arc<EmbeddedStore>> {
        self.main.embedded.clone()
    }

    /// Returns all stores, the main store first.
    pub fn all(&self) -> impl Iterator<Item = &Opened> {
        std::iter::once(&self.main).chain(self.others.values())
    }

    /// Fills the caches and starts their watches.
    pub async fn start(&self) -> Result<()> {
        for opened in self.all() {
            opened.backend.cache.start().await?;
        }
        Ok(())
    }

    /// Waits until a store fails permanently for writes, and returns its error.
    pub async fn failed(&self) -> storage::Error {
        let stores = self.all().map(|opened| opened.backend.store.failed());
        futures_util::future::select_all(stores).await.0
    }

    /// Completes pending writes and closes the stores.
    pub async fn close(&self) -> Result<()> {
        for opened in self.all() {
            opened.backend.store.close().await?;
        }
        Ok(())
    }
}

impl Opened {
    /// The size of the store in bytes: that of the file, or that of the first etcd server that
    /// responds.
    pub async fn size(&self) -> Option<u64> {
        match &self.medium {
            Medium::Etcd(etcd) => etcd.database_sizes().await.into_iter().find_map(|size| size.bytes),
            Medium::File(file) => tokio::fs::metadata(file).await.ok().map(|found| found.len()),
            Medium::Other => None,
        }
    }
}

/// Arguments for opening stores.
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
        let store = Arc::new(EmbeddedStore::open_with(dir, embedded)?);
        Ok(Opened { embedded: Some(store.clone()), ..self.opened(store, Medium::File(file)) })
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
        let reports_corrupt_objects = self.options.features.enabled(features::AllowUnsafeMalformedObjectDeletion);
        let backend = Backend { as_json, collects_garbage, reports_corrupt_objects, ..backend };
        Opened { backend, medium, embedded: None }
    }
}

/// The keys of declared resources, and those that belong to no object.
fn key_space(server: &Server, options: &Options) -> KeySpace {
    let key = |key: &str, group: &str, resource: &str| {
        (key.to_owned(), GroupResource { group: group.to_owned(), resource: resource.to_owned() })
    };
    let stored = server.catalog.kinds.iter().filter_map(|kind| kind.resource).filter(|r| !r.key_prefix.is_empty());
    let resources = stored.map(|r| key(r.key_prefix, r.storage.0, r.plural));
    let others = server.behaviour.other_keys().iter().map(|(path, group, resource)| key(path, group, resource));
    KeySpace::new(&options.storage.prefix, resources.chain(others))
}

/// Returns the options of the etcd client for these servers.
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
