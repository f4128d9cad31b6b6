//! Serving of custom resources: adds and removes endpoints, stores and caches.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use apimachinery::apiextensions::v1::{CustomResourceDefinition, CustomResourceDefinitionNames};
use async_trait::async_trait;
use bytes::Bytes;
use endpoints::{
    Admission, AdmissionAttributes, ApiServer, CustomEndpoints, Endpoint, EndpointBuilder, OpenKind, Operation,
};
use machinery::reflect::Owned;
use machinery::status::{GroupResource, Status};
use registry::{Backend, ResourceStore, Stores};
use storage::cache::ResourceCache;
use tokio::sync::watch;
use webhook::Services;

use crate::conditions::{self, ESTABLISHED, TERMINATING};
use crate::conversion::Calls;
use crate::custom::{CustomKind, CustomVersion, OpenVersion};
use crate::form::TextForm;
use crate::strategy::CustomStrategy;
use crate::versions::OneVersion;

/// Returns the storage backend of a resource, by group and plural.
pub type BackendSelector = Box<dyn Fn(&str, &str) -> Backend + Send + Sync>;

/// The custom resources of a server.
pub struct Custom {
    pub server: Arc<ApiServer>,
    pub builder: EndpointBuilder,
    /// The stores of declared resources.
    pub stores: Arc<Stores>,
    pub admission: Arc<dyn Admission>,
    pub select_backend: BackendSelector,
    calls: Arc<Calls>,
    installed: Mutex<HashMap<String, Installed>>,
    /// Number of changes of the installed definitions.
    changes: watch::Sender<u64>,
}

/// The installed parts of one definition.
struct Installed {
    uid: String,
    generation: i64,
    names: CustomResourceDefinitionNames,
    terminating: bool,
    kind: Arc<CustomKind>,
    form: Arc<TextForm>,
    cache: Arc<ResourceCache>,
    backend: Backend,
    prefix: Bytes,
    endpoints: Vec<Arc<Endpoint>>,
    /// The store of the storage version.
    store: Option<Arc<ResourceStore>>,
}

impl CustomEndpoints for Custom {
    fn of_kind(&self, group: &str, version: &str, kind: &str) -> Option<Arc<Endpoint>> {
        let installed = self.installed();
        let mut endpoints = installed.values().flat_map(|installed| &installed.endpoints);
        endpoints.find(|e| (e.kind.group, e.kind.version, e.kind.kind) == (group, version, kind)).cloned()
    }

    fn all(&self) -> Vec<Arc<Endpoint>> {
        self.installed().values().flat_map(|installed| &installed.endpoints).cloned().collect()
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}

impl Custom {
    pub fn new(
        server: Arc<ApiServer>,
        (builder, stores): (EndpointBuilder, Arc<Stores>),
        admission: Arc<dyn Admission>,
        select_backend: BackendSelector,
        services: Arc<Services>,
        metrics: &prometheus::Registry,
    ) -> Self {
        let calls = Arc::new(Calls::new(services, metrics));
        let (installed, changes) = (Mutex::default(), watch::Sender::new(0));
        Custom { server, builder, stores, admission, select_backend, calls, installed, changes }
    }

    /// Serves the current state of a definition, or removes it if it is not established.
    pub fn update(&self, definition: &CustomResourceDefinition) {
        if !conditions::is_true(definition, ESTABLISHED) {
            return self.remove(&definition.metadata.name);
        }
        let name = definition.metadata.name.clone();
        let mut installed = self.installed();
        let before = installed.remove(&name);
        // A definition with another uid replaced the previous one.
        let before = match before {
            Some(before) if before.uid != definition.metadata.uid => {
                self.uninstall(before);
                None
            }
            other => other,
        };
        let now = self.install(definition, before);
        installed.insert(name, now);
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// Removes the endpoints of a definition.
    pub fn remove(&self, name: &str) {
        let before = self.installed().remove(name);
        if let Some(before) = before {
            self.uninstall(before);
            self.changes.send_modify(|changes| *changes += 1);
        }
    }

    /// Returns the store of a definition's objects, if it is served.
    pub fn store(&self, name: &str) -> Option<Arc<ResourceStore>> {
        self.installed().get(name).and_then(|installed| installed.store.clone())
    }

    fn uninstall(&self, installed: Installed) {
        self.server.change(&installed.endpoints, Vec::new());
        installed.backend.cache.release(&installed.prefix);
    }

    fn install(&self, definition: &CustomResourceDefinition, before: Option<Installed>) -> Installed {
        let terminating = conditions::is_true(definition, TERMINATING);
        let names = definition.status.accepted_names.clone();
        let generation = definition.metadata.generation;
        let same = |before: &Installed| before.generation == generation && before.names == names;
        if let Some(before) = before.as_ref().filter(|before| same(before) && before.terminating == terminating) {
            return before.duplicate();
        }
        let kind = Arc::new(CustomKind::of(definition, terminating, &self.calls));
        let (form, cache, backend, prefix) = match &before {
            Some(before) => {
                before.form.replace(kind.clone());
                if !same(before) {
                    before.cache.redecode_all();
                }
                (before.form.clone(), before.cache.clone(), before.backend.clone(), before.prefix.clone())
            }
            None => self.create_cache(definition, &kind),
        };
        let made: Vec<(&CustomVersion, Arc<Endpoint>)> = kind
            .versions
            .iter()
            .filter_map(|version| Some((version, self.endpoint(&kind, version, &cache, &backend)?)))
            .collect();
        let stored = made.iter().find(|(version, _)| version.name == kind.storage_version);
        let store = stored.and_then(|(_, endpoint)| endpoint.store.clone());
        let served = made.into_iter().filter(|(version, _)| version.served).map(|(_, endpoint)| endpoint);
        let endpoints: Vec<Arc<Endpoint>> = served.collect();
        self.server.change(before.as_ref().map_or(&[], |before| &before.endpoints), endpoints.clone());
        let uid = definition.metadata.uid.clone();
        Installed { uid, generation, names, terminating, kind, form, cache, backend, prefix, endpoints, store }
    }

    fn create_cache(
        &self,
        definition: &CustomResourceDefinition,
        kind: &Arc<CustomKind>,
    ) -> (Arc<TextForm>, Arc<ResourceCache>, Backend, Bytes) {
        let (group, plural) = (&definition.spec.group, &definition.status.accepted_names.plural);
        let backend = (self.select_backend)(group, plural);
        let prefix = Bytes::from(format!("{}/{group}/{plural}/", backend.prefix));
        let form = Arc::new(TextForm::new(kind.clone()));
        let cache = backend.cache.resource(&prefix, || form.clone());
        (form, cache, backend, prefix)
    }

    /// Creates the endpoint of a version. Versions that are not served have one too: the finalizer
    /// may need its store.
    fn endpoint(
        &self,
        kind: &Arc<CustomKind>,
        version: &CustomVersion,
        cache: &Arc<ResourceCache>,
        backend: &Backend,
    ) -> Option<Arc<Endpoint>> {
        let resource = version.def.resource?;
        let strategy = Arc::new(CustomStrategy { kind: kind.clone(), name: version.name.clone() });
        let versions = Arc::new(OneVersion::new(kind.clone(), version));
        let parts = (kind.selectable.in_version(&version.name), versions as _);
        let store = ResourceStore::open(version.def, resource, strategy, backend, cache.clone(), parts);
        let admission: Arc<dyn Admission> = match resource.verbs.contains(&"create") {
            true => self.admission.clone(),
            false => Arc::new(ForbidCreate(self.admission.clone())),
        };
        let open: Arc<dyn OpenKind> = Arc::new(OpenVersion { kind: kind.clone(), name: version.name.clone() });
        let mut endpoint = self.builder.endpoint((version.def, resource), Some(Arc::new(store)), admission);
        endpoint.is_costly = version.has_rules();
        (endpoint.open, endpoint.definition) = (Some(open.clone()), Some(open));
        Some(Arc::new(endpoint))
    }

    fn installed(&self) -> MutexGuard<'_, HashMap<String, Installed>> {
        self.installed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Installed {
    fn duplicate(&self) -> Installed {
        Installed {
            uid: self.uid.clone(),
            generation: self.generation,
            names: self.names.clone(),
            terminating: self.terminating,
            kind: self.kind.clone(),
            form: self.form.clone(),
            cache: self.cache.clone(),
            backend: self.backend.clone(),
            prefix: self.prefix.clone(),
            endpoints: self.endpoints.clone(),
            store: self.store.clone(),
        }
    }
}

/// Rejects creates while a definition is terminating.
struct ForbidCreate(Arc<dyn Admission>);

fn refused(attributes: &AdmissionAttributes) -> Result<(), Status> {
    if attributes.operation != Operation::Create {
        return Ok(());
    }
    let resource = GroupResource { group: attributes.kind.group, resource: attributes.plural };
    let why = "create not allowed while custom resource definition is terminating";
    Err(Status::forbidden(resource, &attributes.name, why))
}

#[async_trait]
impl Admission for ForbidCreate {
    async fn admit(
        &self,
        attributes: &AdmissionAttributes,
        object: &mut Owned,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        refused(attributes)?;
        self.0.admit(attributes, object, old).await
    }

    async fn validate(
        &self,
        attributes: &AdmissionAttributes,
        object: Option<&Owned>,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        refused(attributes)?;
        self.0.validate(attributes, object, old).await
    }
}
