//! The store of a resource: its keys, form and strategy; and reads of single objects.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use apimachinery::meta::v1::ObjectMeta;
use bytes::Bytes;
use machinery::catalog::{Catalog, KindDef, ResourceDef, SelectableDef, parse_api_version};
use machinery::format::is_path_segment_name;
use machinery::protobuf::Mask;
use machinery::reflect::{Owned, Value};
use machinery::scalar::go_text::quote;
use machinery::status::{GroupResource, Status};
use storage::cache::{Cache, CacheOptions, Entry, ResourceCache};
use storage::{KeyRange, KeyValue, Revision, Store, Txn, TxnOutcome};

use crate::clock::{Clock, SystemClock};
use crate::describe::StoredForm;
use crate::error::Error;
use crate::list_counts::ListCounts;
use crate::page_snapshots::PageSnapshots;
use crate::recent::Recent;
use crate::stored;
use crate::strategy::{Strategy, WriteContext};
use crate::versions::VersionConverter;
use crate::write_hook::{ReservationGuard, WriteHook, WriteOutcome};

/// The store of one resource, shared by all its versions (`registry.Store`).
///
/// # Errors
/// Besides its own errors, each call fails with a Status:
/// - 500 when the store fails, the object is damaged, or a namespace is `.` or `..`;
/// - 503 when the store is closed;
/// - 504 when the cache does not reach a requested resourceVersion within 3 seconds;
/// - 507 when the disk of the store is full.
pub struct ResourceStore {
    /// The kind in its storage version.
    pub storage_kind: &'static KindDef,
    /// The declaration of the resource: plural, scope, policies.
    pub def: &'static ResourceDef,
    /// The behaviour of the kind.
    pub strategy: Arc<dyn Strategy>,
    /// The store of the objects.
    pub store: Arc<dyn Store>,
    /// The clock of creation times.
    pub clock: Arc<dyn Clock>,
    /// The watch cache of this resource.
    pub cache: Arc<ResourceCache>,
    pub(crate) whole: Arc<Cache>,
    pub(crate) page_snapshots: PageSnapshots,
    /// The selectable fields, in the order of their values in the cache.
    selectable: Vec<&'static SelectableDef>,
    pub(crate) versions: Option<Arc<dyn VersionConverter>>,
    /// Objects are stored as JSON, not as protobuf.
    pub(crate) as_json: bool,
    /// Whether deletes leave finalizers for the garbage collector.
    pub(crate) collects_garbage: bool,
    /// Corrupt objects are reported by key, and may be deleted.
    pub(crate) reports_corrupt_objects: bool,
    write_hook: OnceLock<Arc<dyn WriteHook>>,
    /// Number of objects decoded so far.
    decoded: AtomicU64,
    pub(crate) recent: Recent,
    pub(crate) list_counts: ListCounts,
    /// Objects expire this many seconds after their last write; 0 for never.
    pub(crate) time_to_live: u64,
    /// `/registry/<prefix>/`, with a slash at the end.
    pub(crate) root: String,
}

/// The store, cache and form that resources share. Clones share the store.
#[derive(Clone)]
pub struct Backend {
    /// The store of all objects.
    pub store: Arc<dyn Store>,
    /// The watch cache of `store`.
    pub cache: Arc<Cache>,
    /// The clock of creation times.
    pub clock: Arc<dyn Clock>,
    /// The prefix of all keys, such as `/registry`.
    pub prefix: String,
    /// Whether objects of all kinds are stored as JSON (`--storage-media-type`).
    pub as_json: bool,
    /// Whether a garbage collector runs (`--enable-garbage-collector`).
    ///
    /// It enables foreground and orphan deletion.
    pub collects_garbage: bool,
    /// Whether corrupt objects are reported as such and may be deleted.
    ///
    /// The feature gate is `AllowUnsafeMalformedObjectDeletion`.
    pub reports_corrupt_objects: bool,
}

/// Maximum size of cached encodings in bytes, the stored encoding not included.
const ENCODINGS: usize = 32 << 20;
/// Maximum number of changes queued for one watcher.
const WATCH_QUEUE: usize = 8192;

impl Backend {
    /// Creates a backend with a cache of the keys below `prefix`.
    ///
    /// The cache is empty until it is started, preferably after all known resources have been created.
    pub fn new(store: Arc<dyn Store>, prefix: &str) -> Self {
        let options = CacheOptions { prefix: format!("{prefix}/").into(), encodings: ENCODINGS, queue: WATCH_QUEUE };
        let cache = Cache::new(store.clone(), options);
        let (clock, prefix) = (Arc::new(SystemClock), prefix.into());
        Backend { store, cache, clock, prefix, as_json: false, collects_garbage: true, reports_corrupt_objects: false }
    }

    /// Creates a backend and starts its cache, which is filled when this returns.
    ///
    /// # Errors
    /// Those of the store during the first read.
    pub async fn start(store: Arc<dyn Store>, prefix: &str) -> storage::Result<Self> {
        let backend = Self::new(store, prefix);
        backend.cache.start().await?;
        Ok(backend)
    }
}

/// How long a read waits for a revision that the cache has not reached (upstream's `blockTimeout`).
const CACHE_TIMEOUT: Duration = Duration::from_secs(3);

impl ResourceStore {
    /// Creates the store of a resource of the catalog.
    ///
    /// `storage_kind` is the kind in its storage version.
    pub fn new(
        catalog: &'static Catalog,
        storage_kind: &'static KindDef,
        def: &'static ResourceDef,
        strategy: Arc<dyn Strategy>,
        backend: &Backend,
    ) -> Self {
        let root = format!("{}/{}/", backend.prefix, def.key_prefix);
        let selectable = selectable(catalog, def.key_prefix);
        let form = || Arc::new(StoredForm::new(catalog, storage_kind, selectable.clone())) as Arc<_>;
        let cache = backend.cache.resource(&Bytes::from(root), form);
        Self::over(cache, storage_kind, def, strategy, backend, selectable)
    }

    /// Creates the store of one version of an unstructured kind.
    ///
    /// All versions share the cache; its entries have the values of the fields `selectable`.
    pub fn open(
        kind: &'static KindDef,
        def: &'static ResourceDef,
        strategy: Arc<dyn Strategy>,
        backend: &Backend,
        cache: Arc<ResourceCache>,
        (selectable, versions): (Vec<&'static SelectableDef>, Arc<dyn VersionConverter>),
    ) -> Self {
        let mut store = Self::over(cache, kind, def, strategy, backend, selectable);
        store.versions = Some(versions);
        store
    }

    /// The one place where a store is built.
    fn over(
        cache: Arc<ResourceCache>,
        storage_kind: &'static KindDef,
        def: &'static ResourceDef,
        strategy: Arc<dyn Strategy>,
        backend: &Backend,
        selectable: Vec<&'static SelectableDef>,
    ) -> Self {
        ResourceStore {
            storage_kind,
            def,
            strategy,
            store: backend.store.clone(),
            clock: backend.clock.clone(),
            cache,
            whole: backend.cache.clone(),
            page_snapshots: PageSnapshots::default(),
            list_counts: ListCounts::new(selectable.len()),
            selectable,
            versions: None,
            as_json: def.stored_as_json || backend.as_json,
            collects_garbage: backend.collects_garbage,
            reports_corrupt_objects: backend.reports_corrupt_objects,
            write_hook: OnceLock::new(),
            decoded: AtomicU64::new(0),
            recent: Recent::default(),
            time_to_live: 0,
            root: format!("{}/{}/", backend.prefix, def.key_prefix),
        }
    }

    /// Sets the seconds from the last write to expiry (`Store.TTLFunc`); 0 for never.
    pub fn with_time_to_live(mut self, seconds: u64) -> Self {
        self.time_to_live = seconds;
        self
    }

    /// Sets the hook that is called for every write from now on.
    ///
    /// Only the first call has an effect.
    pub fn set_write_hook(&self, write_hook: Arc<dyn WriteHook>) {
        let _ = self.write_hook.set(write_hook);
    }

    pub(crate) async fn begin(
        &self,
        context: &WriteContext,
        new: &mut Owned,
        old: Option<&Owned>,
    ) -> Result<ReservationGuard, Status> {
        match self.write_hook.get() {
            Some(write_hook) => write_hook.begin(context, new, old).await.map(ReservationGuard::new),
            None => Ok(ReservationGuard::none()),
        }
    }

    /// Commits a transaction and records in `outcome` whether it changed the store.
    pub(crate) async fn commit(&self, txn: Txn, outcome: &mut WriteOutcome) -> Result<TxnOutcome, Status> {
        // If this future is dropped during the commit, the store may still complete it.
        *outcome = WriteOutcome::Unknown;
        let committed = self.store.commit(txn).await;
        *outcome = match &committed {
            Ok(TxnOutcome::Committed { .. }) => WriteOutcome::Stored,
            Ok(TxnOutcome::Conflict { .. }) => WriteOutcome::NotStored,
            Err(error) if error.wrote_nothing() => WriteOutcome::NotStored,
            Err(_) => WriteOutcome::Unknown,
        };
        committed.map_err(stored::failure)
    }

    pub(crate) async fn after_delete(&self, object: &Owned) {
        if let Some(write_hook) = self.write_hook.get() {
            write_hook.after_delete(object).await;
        }
    }

    /// Returns group and plural, for messages.
    pub fn name(&self) -> GroupResource<'static> {
        GroupResource { group: self.storage_kind.group, resource: self.def.plural }
    }

    /// Returns group and plural of a request: two groups may serve objects of one store.
    pub(crate) fn name_in<'c>(&self, context: &'c WriteContext) -> GroupResource<'c> {
        let group = if context.group.is_empty() { self.storage_kind.group } else { context.group.as_str() };
        GroupResource { group, resource: self.def.plural }
    }

    /// Returns group and kind, for messages about invalid objects.
    pub fn kind_name(&self) -> GroupResource<'static> {
        GroupResource { group: self.storage_kind.group, resource: self.storage_kind.kind }
    }

    /// Returns group and kind for messages; of a custom resource those that the object has, which may be wrong.
    pub(crate) fn kind_of<'o>(&self, object: &'o Owned) -> GroupResource<'o> {
        let text = |name| object.as_ref().by_name(name).and_then(Value::as_str).unwrap_or_default();
        let (kind, api_version) = match self.versions.is_some() {
            true => (text("kind"), text("apiVersion")),
            false => ("", ""),
        };
        GroupResource {
            group: if api_version.is_empty() { self.storage_kind.group } else { parse_api_version(api_version).0 },
            resource: if kind.is_empty() { self.storage_kind.kind } else { kind },
        }
    }

    /// Returns the key of an object; `namespace` is ignored for cluster-scoped resources.
    pub(crate) fn key(&self, namespace: &str, name: &str) -> String {
        if self.def.namespaced { format!("{}{namespace}/{name}", self.root) } else { format!("{}{name}", self.root) }
    }

    /// Returns the key of an object below the store's prefix, for upstream's messages.
    pub(crate) fn key_without_prefix(&self, namespace: &str, name: &str) -> String {
        let prefix = self.def.key_prefix;
        if self.def.namespaced { format!("/{prefix}/{namespace}/{name}") } else { format!("/{prefix}/{name}") }
    }

    /// Refuses names that no key can have (`NamespaceKeyFunc`), and namespaces that would escape the
    /// resource's keys (`storage.PrepareKey`).
    pub(crate) fn check_key(&self, namespace: &str, name: &str) -> Result<(), Status> {
        let messages = is_path_segment_name(name);
        if !messages.is_empty() {
            let why = format!("Name parameter invalid: {}: {}", quote(name), messages.join(";"));
            return Err(Status::bad_request(why));
        }
        self.check_keys_of(namespace, name)
    }

    /// Refuses namespaces that would escape the resource's keys.
    pub(crate) fn check_keys_of(&self, namespace: &str, name: &str) -> Result<(), Status> {
        if !self.def.namespaced || !matches!(namespace, "." | "..") {
            return Ok(());
        }
        let name = if name.is_empty() { String::new() } else { format!("/{name}") };
        Err(Status::new(500, "", format!("invalid key: \"/{}/{namespace}{name}\"", self.def.key_prefix)))
    }

    /// Returns the keys of a namespace, or of all namespaces when `namespace` is empty.
    pub(crate) fn range(&self, namespace: &str) -> KeyRange {
        if self.def.namespaced && !namespace.is_empty() {
            KeyRange::prefix(format!("{}{namespace}/", self.root))
        } else {
            KeyRange::prefix(self.root.clone())
        }
    }

    /// Returns the current object of a key, from the store when the cache lags behind for too long.
    pub(crate) async fn current(&self, key: &str) -> Result<Option<Arc<Entry>>, Status> {
        if self.reach_latest().await?.is_ok() {
            return Ok(self.cache.get(key.as_bytes()));
        }
        let stored = self.store.get(key.as_bytes(), None).await.map_err(stored::failure)?;
        Ok(self.newer(stored.kv))
    }

    /// Returns the entry that another writer stored in the meantime.
    pub(crate) fn newer(&self, current: Option<KeyValue>) -> Option<Arc<Entry>> {
        current.map(|kv| self.cache.entry(&kv))
    }

    /// Decodes an entry's object in its hub form.
    ///
    /// # Errors
    /// 500 when the entry is damaged.
    pub fn object(&self, entry: &Entry) -> Result<Owned, Status> {
        self.decode(entry, None)
    }

    /// Decodes the part of an entry that a mask of the storage version selects.
    ///
    /// # Errors
    /// 500 when the entry is damaged.
    pub fn part(&self, entry: &Entry, mask: &Mask) -> Result<Owned, Status> {
        self.decode(entry, Some(mask))
    }

    fn decode(&self, entry: &Entry, mask: Option<&Mask>) -> Result<Owned, Status> {
        self.check(entry)?;
        self.decoded.fetch_add(1, Ordering::Relaxed);
        stored::decode(self.storage_kind, entry, mask)
    }

    /// Returns the number of objects decoded since the start.
    ///
    /// Reads in the storage version decode none.
    pub fn decoded(&self) -> u64 {
        self.decoded.load(Ordering::Relaxed)
    }

    /// Returns the revision up to which the cache has every change.
    pub fn revision(&self) -> Revision {
        self.whole.revision()
    }

    /// Returns the labels of the selectable fields, in the order of the cache.
    pub(crate) fn selectable_labels(&self) -> impl Iterator<Item = &'static str> {
        self.selectable.iter().map(|field| field.label)
    }

    /// Returns the index of a selectable field in the cache; one past the last for an undeclared label.
    pub(crate) fn field_index(&self, label: &str) -> usize {
        self.selectable.iter().position(|field| field.label == label).unwrap_or(self.selectable.len())
    }

    /// Reads an object in hub form.
    ///
    /// An empty `resource_version` is the latest state, `0` any state, and a number a state at least as
    /// new.
    ///
    /// # Errors
    /// As [`ResourceStore::get_entry`].
    pub async fn get(&self, namespace: &str, name: &str, resource_version: &str) -> Result<Owned, Status> {
        self.object(&*self.get_entry(namespace, name, resource_version).await?)
    }

    /// Reads the entry of an object, in the version of the store's users.
    ///
    /// `resource_version` is that of [`ResourceStore::get`].
    ///
    /// # Errors
    /// Besides those of each call:
    /// - 400 for a name that no object can have;
    /// - 400, or 500 for resources with a watch cache, as upstream, for an invalid resourceVersion;
    /// - 404 when there is no such object.
    pub async fn get_entry(&self, namespace: &str, name: &str, resource_version: &str) -> Result<Arc<Entry>, Status> {
        self.check_key(namespace, name)?;
        let key = self.key(namespace, name);
        // Upstream's store adds a prefix to this message, its cache does not.
        let refused = |status: Status| match self.def.watch_cache {
            true => status,
            false => Status::bad_request(format!("invalid resource version: {}", status.message)),
        };
        let entry = match parse_resource_version(resource_version).map_err(refused)? {
            _ if resource_version.is_empty() => self.current(&key).await?,
            0 => self.cache.get(key.as_bytes()),
            wanted => {
                self.reach(wanted).await?;
                self.cache.get(key.as_bytes())
            }
        };
        let entry = entry.ok_or_else(|| Status::not_found(self.name(), name))?;
        self.check(&entry)?;
        self.in_version(entry).await
    }

    /// Returns the size of a cached object in bytes; 0 if the cache does not have it.
    pub fn cached_size(&self, namespace: &str, name: &str) -> usize {
        self.cache.get(self.key(namespace, name).as_bytes()).map_or(0, |entry| entry.object.len())
    }

    /// Waits until the cache has everything that is stored. After [`CACHE_TIMEOUT`], returns the
    /// required revision; then the caller reads the store (upstream: the fallback of
    /// `CacheDelegator.GetList`).
    pub(crate) async fn reach_latest(&self) -> Result<Result<(), Revision>, Status> {
        let latest = self.store.current_revision().await.map_err(stored::failure)?;
        Ok(self.reaches(latest).await.then_some(()).ok_or(latest))
    }

    /// Waits until the cache has reached a revision; `false` when that takes too long.
    pub(crate) async fn reaches(&self, revision: Revision) -> bool {
        let began = std::time::Instant::now();
        let reached = self.whole.wait_for(revision, CACHE_TIMEOUT).await;
        self.cache.counts().waits.observe(began.elapsed());
        reached
    }

    /// Waits until the cache has reached a revision; an error when that takes too long.
    pub(crate) async fn reach(&self, revision: Revision) -> Result<(), Status> {
        if self.reaches(revision).await { Ok(()) } else { Err(self.lags(revision)) }
    }

    /// Returns the error for requests that only the cache can serve.
    pub(crate) fn lags(&self, revision: Revision) -> Status {
        stored::too_large_resource_version(revision, self.whole.revision())
    }
}

/// Returns the selectable fields of all kinds with one key prefix, each label once: two groups share Events.
fn selectable(catalog: &'static Catalog, prefix: &str) -> Vec<&'static SelectableDef> {
    let mut out: Vec<&'static SelectableDef> = Vec::new();
    for resource in catalog.kinds.iter().filter_map(|kind| kind.resource).filter(|r| r.key_prefix == prefix) {
        for field in resource.selectable {
            if out.iter().all(|known| known.label != field.label) {
                out.push(field);
            }
        }
    }
    out
}

/// Parses a client's resourceVersion; empty and `0` are 0.
///
/// # Errors
/// 500, as upstream, when the text is not a number.
///
/// # Examples
/// ```
/// assert_eq!(registry::parse_resource_version("42"), Ok(42));
/// assert_eq!(registry::parse_resource_version(""), Ok(0));
/// assert_eq!(registry::parse_resource_version("x").map_err(|status| status.code), Err(500));
/// ```
pub fn parse_resource_version(text: &str) -> Result<u64, Status> {
    parse_version(text).map_err(|why| {
        let message = format!("resourceVersion: Invalid value: {}: {why}", quote(text));
        Status { code: 500, message, ..Status::default() }
    })
}

/// Parses the resourceVersion of a written object; `None` when empty or `0`
/// (`Versioner.ObjectResourceVersion`).
///
/// # Errors
/// 500, as upstream, when the text is not a number.
pub(crate) fn sent_version(meta: &ObjectMeta) -> Result<Option<u64>, Status> {
    let version = parse_version(&meta.resource_version);
    let version = version.map_err(|e| Status { code: 500, message: e.to_string(), ..Status::default() })?;
    Ok((version != 0).then_some(version))
}

/// Parses an unsigned number with the errors of Go's `strconv.ParseUint`; empty is 0.
fn parse_version(text: &str) -> Result<u64, Error> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        _ if text.is_empty() => Ok(0),
        Ok(number) if is_number => Ok(number),
        _ if is_number => Err(Error::OutOfRange { text: text.into() }),
        _ => Err(Error::NotANumber { text: text.into() }),
    }
}
