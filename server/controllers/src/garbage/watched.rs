//! The resources whose objects can own others and be owned.

use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use endpoints::{Endpoint, RunningServer, compare_versions};
use machinery::protobuf::Mask;
use machinery::status::Status;
use registry::ResourceStore;
use storage::cache::Entry;

use super::metadata::{self, Metadata};

/// A resource of the server.
pub struct Watched {
    /// The group and version for requests.
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub plural: &'static str,
    pub namespaced: bool,
    pub store: Arc<ResourceStore>,
    mask: Mask,
}

impl Watched {
    fn new(endpoint: &Endpoint, store: Arc<ResourceStore>) -> Self {
        Watched {
            group: endpoint.group_version.0,
            version: endpoint.group_version.1,
            kind: endpoint.kind.kind,
            plural: endpoint.resource.plural,
            namespaced: endpoint.resource.namespaced,
            mask: metadata::mask(&store),
            store,
        }
    }

    /// Decodes the metadata of an entry.
    ///
    /// # Errors
    /// The entry is damaged.
    pub fn metadata(&self, entry: &Entry) -> Result<Metadata, Status> {
        Metadata::of(&self.store, entry, &self.mask)
    }

    /// The `apiVersion` of its objects in requests.
    pub fn api_version(&self) -> String {
        machinery::catalog::api_version(self.group, self.version)
    }

    /// The path of an object.
    pub fn path(&self, namespace: &str, name: &str) -> String {
        let root = match self.group {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        };
        match self.namespaced {
            true => format!("{root}/namespaces/{namespace}/{}/{name}", self.plural),
            false => format!("{root}/{}/{name}", self.plural),
        }
    }
}

/// An object, identified by its uid.
#[derive(Clone)]
pub struct Object {
    pub uid: Arc<str>,
    pub namespace: Arc<str>,
    pub name: Arc<str>,
    pub resource: Arc<Watched>,
}

impl Object {
    /// Creates the identity of an object of a resource.
    pub fn new(resource: &Arc<Watched>, metadata: &Metadata) -> Self {
        Object {
            uid: metadata.uid.as_str().into(),
            namespace: metadata.namespace.as_str().into(),
            name: metadata.name.as_str().into(),
            resource: resource.clone(),
        }
    }

    /// The path of the object.
    pub fn path(&self) -> String {
        self.resource.path(&self.namespace, &self.name)
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.uid == other.uid
    }
}

impl Eq for Object {}

impl Hash for Object {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.uid.hash(state);
    }
}

/// The kinds by group, version and name.
type Kinds = HashMap<(&'static str, &'static str, &'static str), Arc<Watched>>;

/// The resources at one time.
#[derive(Default)]
pub struct Resources {
    /// One for all versions of a resource, by the address of its cache.
    pub by_cache: BTreeMap<usize, Arc<Watched>>,
    /// All served versions.
    kinds: Kinds,
}

impl Resources {
    /// Returns the resources of the server. Those in `before` stay the same.
    pub fn of(server: &RunningServer, before: &Resources) -> Self {
        let custom = server.environment.custom.get().and_then(std::sync::Weak::upgrade);
        let custom = custom.map(|custom| custom.all()).unwrap_or_default();
        let mut endpoints: Vec<&Arc<Endpoint>> = server.loopback.endpoints().chain(&custom).collect();
        // The preferred version first.
        endpoints.sort_by(|a, b| compare_versions(b.group_version.1, a.group_version.1));
        let mut all = Resources::default();
        for endpoint in endpoints.into_iter().filter(|endpoint| is_collected(endpoint)) {
            let Some(store) = &endpoint.store else { continue };
            let cache = Arc::as_ptr(&store.cache).addr();
            let known = before.by_cache.get(&cache).filter(|known| is_same(known, endpoint));
            let watched = all.by_cache.entry(cache).or_insert_with(|| match known {
                Some(known) => known.clone(),
                None => Arc::new(Watched::new(endpoint, store.clone())),
            });
            let (group, version) = endpoint.group_version;
            all.kinds.insert((group, version, endpoint.kind.kind), watched.clone());
        }
        all
    }

    /// Returns the resource of a kind.
    pub fn of_kind(&self, api_version: &str, kind: &str) -> Option<&Arc<Watched>> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        // The keys are static, the arguments are not.
        self.kinds.iter().find(|(key, _)| **key == (group, version, kind)).map(|(_, watched)| watched)
    }
}

/// Whether objects of a resource are collected: those that can be watched and deleted, except events
/// (`DefaultIgnoredResources`).
fn is_collected(endpoint: &Endpoint) -> bool {
    let has = |verb: &str| endpoint.resource.verbs.contains(&verb);
    endpoint.resource.plural != "events" && ["list", "watch", "delete"].into_iter().all(has)
}

/// Whether an endpoint, possibly of a changed definition, has the store of a known resource.
fn is_same(known: &Watched, endpoint: &Endpoint) -> bool {
    let store = endpoint.store.as_ref();
    store.is_some_and(|store| Arc::ptr_eq(store, &known.store) && endpoint.group_version.1 == known.version)
}
