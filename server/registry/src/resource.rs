//! A resource as the store keeps it: where, in which form, by which strategy; and reads of single objects.

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
use crate::list_counts::ListCounts;
use crate::lookup::Recent;
use crate::open::Versions;
use crate::page_snapshots::PageSnapshots;
use crate::stored;
use crate::strategy::{Context, Strategy};
use crate::write_hook::{Outcome, Reservation, WriteHook};

/// The store of one resource, shared by all its versions.
pub struct ResourceStore {
    /// The version of the kind that it is stored in.
    pub storage_kind: &'static KindDef,
    /// Plural, scope, policies.
    pub def: &'static ResourceDef,
    pub strategy: Arc<dyn Strategy>,
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    /// The present of this resource, and of everything.
    pub cache: Arc<ResourceCache>,
    pub(crate) whole: Arc<Cache>,
    pub(crate) past: PageSnapshots,
    /// The fields that selectors may name, in the order in which the cache has their values.
    selectable: Vec<&'static SelectableDef>,
    pub(crate) versions: Option<Arc<dyn Versions>>,
    /// Objects are stored as JSON, not as protobuf.
    pub(crate) as_json: bool,
    /// Whether deletes wait for the garbage collector.
    pub(crate) collects_garbage: bool,
    /// Objects that cannot be read are told, and may be deleted.
    pub(crate) tells_corrupt: bool,
    companion: OnceLock<Arc<dyn WriteHook>>,
    /// How many of its objects were decoded.
    decoded: AtomicU64,
    pub(crate) recent: Recent,
    pub(crate) list_counts: ListCounts,
    /// Objects go by themselves so many seconds after they were last written; 0 never.
    pub(crate) time_to_live: u64,
    /// `/registry/<prefix>/`, with a slash at the end.
    pub(crate) root: String,
}

/// Where resources are kept, and how. Clones share it.
#[derive(Clone)]
pub struct Backend {
    pub store: Arc<dyn Store>,
    pub cache: Arc<Cache>,
    pub clock: Arc<dyn Clock>,
    /// What all keys begin with, such as `/registry`.
    pub prefix: String,
    /// Objects of all kinds are stored as JSON (`--storage-media-type`).
    pub as_json: bool,
    /// Somebody collects garbage, for whom deletes wait where they ask for that (`--enable-garbage-collector`).
    pub collects_garbage: bool,
    /// Objects that cannot be read are told in upstream's words, and may be deleted
    /// (`AllowUnsafeMalformedObjectDeletion`).
    pub tells_corrupt: bool,
}

/// How many bytes of encodings other than the stored one are kept.
const ENCODINGS: usize = 32 << 20;
/// How many changes may wait for one watcher.
const WATCH_QUEUE: usize = 8192;

impl Backend {
    /// A store behind a cache of what is below `prefix`. The cache is empty until it is started, best when all resources that are known are made.
    pub fn new(store: Arc<dyn Store>, prefix: &str) -> Self {
        let options = CacheOptions { prefix: format!("{prefix}/").into(), encodings: ENCODINGS, queue: WATCH_QUEUE };
        let cache = Cache::new(store.clone(), options);
        let (clock, prefix) = (Arc::new(SystemClock), prefix.into());
        Backend { store, cache, clock, prefix, as_json: false, collects_garbage: true, tells_corrupt: false }
    }

    /// The same with a cache that has been filled when this returns.
    ///
    /// # Errors
    /// Those of the store while it is first read.
    pub async fn start(store: Arc<dyn Store>, prefix: &str) -> storage::Result<Self> {
        let backend = Self::new(store, prefix);
        backend.cache.start().await?;
        Ok(backend)
    }
}

/// How long a reader waits for a revision that the cache has not seen yet (upstream's `blockTimeout`).
const PATIENCE: Duration = Duration::from_secs(3);

impl ResourceStore {
    /// The store of a resource of the catalog, whose objects are stored as `storage_kind`.
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

    /// The store of one version of a kind of open form. All versions share the cache; `selectable` are the fields whose values its entries
    /// have.
    pub fn open(
        kind: &'static KindDef,
        def: &'static ResourceDef,
        strategy: Arc<dyn Strategy>,
        backend: &Backend,
        cache: Arc<ResourceCache>,
        (selectable, versions): (Vec<&'static SelectableDef>, Arc<dyn Versions>),
    ) -> Self {
        let store = Self::over(cache, kind, def, strategy, backend, selectable);
        ResourceStore { versions: Some(versions), ..store }
    }

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
            past: PageSnapshots::default(),
            list_counts: ListCounts::new(selectable.len()),
            selectable,
            versions: None,
            as_json: def.stored_as_json || backend.as_json,
            collects_garbage: backend.collects_garbage,
            tells_corrupt: backend.tells_corrupt,
            companion: OnceLock::new(),
            decoded: AtomicU64::new(0),
            recent: Recent::default(),
            time_to_live: 0,
            root: format!("{}/{}/", backend.prefix, def.key_prefix),
        }
    }

    /// Lets objects go by themselves so many seconds after they were last written (`registry.Store.TTLFunc`); 0 never.
    pub fn with_time_to_live(self, seconds: u64) -> Self {
        ResourceStore { time_to_live: seconds, ..self }
    }

    /// Has every write from now on accompanied. Only the first companion counts.
    pub fn set_write_hook(&self, companion: Arc<dyn WriteHook>) {
        let _ = self.companion.set(companion);
    }

    pub(crate) async fn begin(
        &self,
        context: &Context,
        new: &mut Owned,
        old: Option<&Owned>,
    ) -> Result<Reservation, Status> {
        match self.companion.get() {
            Some(companion) => companion.begin(context, new, old).await.map(Reservation::new),
            None => Ok(Reservation::none()),
        }
    }

    /// Commits a transaction and records in `outcome` whether it changed the store.
    pub(crate) async fn commit(&self, txn: Txn, outcome: &mut Outcome) -> Result<TxnOutcome, Status> {
        // Also when this future is dropped in the middle, the store may go on with it.
        *outcome = Outcome::Unknown;
        let committed = self.store.commit(txn).await;
        *outcome = match &committed {
            Ok(TxnOutcome::Committed { .. }) => Outcome::Stored,
            Ok(TxnOutcome::Conflict { .. }) => Outcome::NotStored,
            Err(error) if error.wrote_nothing() => Outcome::NotStored,
            Err(_) => Outcome::Unknown,
        };
        committed.map_err(stored::failure)
    }

    pub(crate) async fn after_delete(&self, object: &Owned) {
        if let Some(companion) = self.companion.get() {
            companion.after_delete(object).await;
        }
    }

    /// Group and plural, as messages name it.
    pub fn name(&self) -> GroupResource<'static> {
        GroupResource { group: self.storage_kind.group, resource: self.def.plural }
    }

    /// The same in the words of a request: objects of one store may be served by two groups.
    pub(crate) fn name_in<'c>(&self, context: &'c Context) -> GroupResource<'c> {
        let group = if context.group.is_empty() { self.storage_kind.group } else { context.group.as_str() };
        GroupResource { group, resource: self.def.plural }
    }

    /// Group and kind, as messages about invalid objects name it.
    pub fn kind_name(&self) -> GroupResource<'static> {
        GroupResource { group: self.storage_kind.group, resource: self.storage_kind.kind }
    }

    /// Likewise, of a custom resource by the kind that the object names, which need not be the right one.
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

    /// The key of an object; `namespace` is ignored for cluster-scoped resources.
    pub(crate) fn key(&self, namespace: &str, name: &str) -> String {
        if self.def.namespaced { format!("{}{namespace}/{name}", self.root) } else { format!("{}{name}", self.root) }
    }

    /// The key of an object below the store's prefix, as upstream's messages show it.
    pub(crate) fn key_without_prefix(&self, namespace: &str, name: &str) -> String {
        let prefix = self.def.key_prefix;
        if self.def.namespaced { format!("/{prefix}/{namespace}/{name}") } else { format!("/{prefix}/{name}") }
    }

    /// Refuses names that no key can have (`NamespaceKeyFunc`), and namespaces that would lead out of the resource's
    /// keys (`storage.PrepareKey`).
    pub(crate) fn check_key(&self, namespace: &str, name: &str) -> Result<(), Status> {
        let messages = is_path_segment_name(name);
        if !messages.is_empty() {
            let why = format!("Name parameter invalid: {}: {}", quote(name), messages.join(";"));
            return Err(Status::bad_request(why));
        }
        self.check_keys_of(namespace, name)
    }

    /// Refuses namespaces that would lead out of the resource's keys.
    pub(crate) fn check_keys_of(&self, namespace: &str, name: &str) -> Result<(), Status> {
        if !self.def.namespaced || !matches!(namespace, "." | "..") {
            return Ok(());
        }
        let name = if name.is_empty() { String::new() } else { format!("/{name}") };
        Err(Status::new(500, "", format!("invalid key: \"/{}/{namespace}{name}\"", self.def.key_prefix)))
    }

    /// The keys of a namespace, or of all when `namespace` is empty.
    pub(crate) fn range(&self, namespace: &str) -> KeyRange {
        if self.def.namespaced && !namespace.is_empty() {
            KeyRange::prefix(format!("{}{namespace}/", self.root))
        } else {
            KeyRange::prefix(self.root.clone())
        }
    }

    /// The object under a key as it is stored now: from the store itself when the cache lags behind for long.
    pub(crate) async fn current(&self, key: &str) -> Result<Option<Arc<Entry>>, Status> {
        if self.reach_latest().await?.is_ok() {
            return Ok(self.cache.get(key.as_bytes()));
        }
        let stored = self.store.get(key.as_bytes(), None).await.map_err(stored::failure)?;
        Ok(self.newer(stored.kv))
    }

    /// What another writer stored meanwhile.
    pub(crate) fn newer(&self, current: Option<KeyValue>) -> Option<Arc<Entry>> {
        current.map(|kv| self.cache.entry(&kv))
    }

    /// An entry's object in its hub form.
    pub fn object(&self, entry: &Entry) -> Result<Owned, Status> {
        self.decode(entry, None)
    }

    /// No more of it than a mask of the stored version wants.
    pub fn part(&self, entry: &Entry, mask: &Mask) -> Result<Owned, Status> {
        self.decode(entry, Some(mask))
    }

    fn decode(&self, entry: &Entry, mask: Option<&Mask>) -> Result<Owned, Status> {
        self.check(entry)?;
        self.decoded.fetch_add(1, Ordering::Relaxed);
        stored::decode(self.storage_kind, entry, mask)
    }

    /// How many of its objects were decoded since the server began. Reads in the version that they are stored in need none.
    pub fn decoded(&self) -> u64 {
        self.decoded.load(Ordering::Relaxed)
    }

    /// How far its cache is.
    pub fn revision(&self) -> Revision {
        self.whole.revision()
    }

    /// The fields that selectors may name, in the order of the cache.
    pub(crate) fn selectable_labels(&self) -> impl Iterator<Item = &'static str> {
        self.selectable.iter().map(|field| field.label)
    }

    /// Where the cache has the value of a selectable field; behind the last one for a label that nobody declared.
    pub(crate) fn field_index(&self, label: &str) -> usize {
        self.selectable.iter().position(|field| field.label == label).unwrap_or(self.selectable.len())
    }

    /// Reads an object; `resource_version` other than empty and 0 must already have been reached.
    pub async fn get(&self, namespace: &str, name: &str, resource_version: &str) -> Result<Owned, Status> {
        self.object(&*self.get_entry(namespace, name, resource_version).await?)
    }

    /// Reads an object as the cache has it.
    pub async fn get_entry(&self, namespace: &str, name: &str, resource_version: &str) -> Result<Arc<Entry>, Status> {
        self.check_key(namespace, name)?;
        let key = self.key(namespace, name);
        // Upstream's store says this in its own words, its cache does not.
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

    /// The size of an object as the cache has it, in bytes; 0 if the cache has none of this name.
    pub fn cached_size(&self, namespace: &str, name: &str) -> usize {
        self.cache.get(self.key(namespace, name).as_bytes()).map_or(0, |entry| entry.object.len())
    }

    /// Waits until the cache has everything that is stored. One that lags behind for long gives the revision that it should be at:
    /// then the store is asked (upstream: the fallback of `CacheDelegator.GetList`).
    pub(crate) async fn reach_latest(&self) -> Result<Result<(), Revision>, Status> {
        let latest = self.store.current_revision().await.map_err(stored::failure)?;
        Ok(self.reaches(latest).await.then_some(()).ok_or(latest))
    }

    /// Waits until the cache has everything up to a revision; false when that takes too long.
    pub(crate) async fn reaches(&self, revision: Revision) -> bool {
        let began = std::time::Instant::now();
        let reached = self.whole.wait_for(revision, PATIENCE).await;
        self.cache.counts().waits.observe(began.elapsed());
        reached
    }

    /// Waits until the cache has everything up to a revision.
    pub(crate) async fn reach(&self, revision: Revision) -> Result<(), Status> {
        if self.reaches(revision).await { Ok(()) } else { Err(self.lags(revision)) }
    }

    /// What to say when nothing but the cache would do.
    pub(crate) fn lags(&self, revision: Revision) -> Status {
        too_large_resource_version(revision, self.whole.revision())
    }
}

/// The fields of all kinds that are kept below one prefix, each label once: events of two groups are the same objects.
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

/// The revision a client means; empty and `0` are 0.
///
/// # Errors
/// 500, as upstream, when the text is no number.
pub fn parse_resource_version(text: &str) -> Result<u64, Status> {
    parse_version(text).map_err(|why| {
        let message = format!("resourceVersion: Invalid value: {}: {why}", quote(text));
        Status { code: 500, message, ..Status::default() }
    })
}

/// The version that an object of a write says; none when empty or `0` (`Versioner.ObjectResourceVersion`).
///
/// # Errors
/// 500, as upstream, when the text is no number.
pub(crate) fn sent_version(meta: &ObjectMeta) -> Result<Option<u64>, Status> {
    let version = parse_version(&meta.resource_version);
    let version = version.map_err(|message| Status { code: 500, message, ..Status::default() })?;
    Ok((version != 0).then_some(version))
}

/// A number without sign, in the words of Go's `strconv.ParseUint`; empty is 0.
fn parse_version(text: &str) -> Result<u64, String> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        _ if text.is_empty() => Ok(0),
        Ok(number) if is_number => Ok(number),
        _ => {
            let why = if is_number { "value out of range" } else { "invalid syntax" };
            Err(format!("strconv.ParseUint: parsing {}: {why}", quote(text)))
        }
    }
}

/// `NewTooLargeResourceVersionError`
pub(crate) fn too_large_resource_version(wanted: u64, current: u64) -> Status {
    let message = format!("Too large resource version: {wanted}, current: {current}");
    let mut status = Status::timeout(message, 1);
    if let Some(details) = &mut status.details {
        details.causes.push(machinery::status::Cause {
            reason: "ResourceVersionTooLarge".into(),
            message: "Too large resource version".into(),
            field: String::new(),
        });
    }
    status
}
