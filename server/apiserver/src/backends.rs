//! Where objects are kept: one store, and another one for each resource that an override names.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

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
}

impl Backends {
    /// Opens the store in the data directory, or connects to etcd, and reads everything.
    pub async fn open(options: &Options) -> Result<Self> {
        let etcd = &options.storage.etcd;
        let main =
            if etcd.servers.is_empty() { embedded(options).await? } else { connect(options, &etcd.servers).await? };
        let mut backends = Backends { main, others: BTreeMap::new(), overrides: BTreeMap::new() };
        for each in &etcd.overrides {
            let mut servers = each.servers.clone();
            servers.sort();
            if !backends.others.contains_key(&servers) {
                backends.others.insert(servers.clone(), connect(options, &servers).await?);
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

    /// All of them, the one of everything that no override names first.
    pub fn all(&self) -> impl Iterator<Item = &Opened> {
        std::iter::once(&self.main).chain(self.others.values())
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
    async fn new(store: Arc<dyn Store>, options: &Options, medium: Medium) -> Result<Self> {
        Ok(Opened { backend: Backend::start(store, &options.storage.prefix).await?, medium })
    }

    /// How many bytes the store takes: those of the file, or what the first etcd server that answers says.
    pub async fn size(&self) -> Option<u64> {
        match &self.medium {
            Medium::Etcd(etcd) => etcd.database_sizes().await.into_iter().find_map(|size| size.bytes),
            Medium::File(file) => std::fs::metadata(file).ok().map(|found| found.len()),
        }
    }
}

async fn embedded(options: &Options) -> Result<Opened> {
    let compaction_interval = options.storage.compaction_interval;
    let embedded = EmbeddedOptions { compaction_interval, ..EmbeddedOptions::default() };
    let dir = options.data_dir.join("store");
    let file = EmbeddedStore::database(&dir);
    Opened::new(Arc::new(EmbeddedStore::open_with(dir, embedded)?), options, Medium::File(file)).await
}

async fn connect(options: &Options, servers: &[String]) -> Result<Opened> {
    let store = Arc::new(EtcdStore::connect(etcd_options(options, servers)).await?);
    Opened::new(store.clone(), options, Medium::Etcd(store)).await
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
