//! The task that follows the store, and the values of resources without a registered decoder.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;

use super::budget::CacheBudget;
use super::factory::{EntryDecoder, EntryFactory};
use super::reading::{self, Filling};
use super::resource::ResourceCache;
use super::snapshot::Snapshot;
use crate::{Error, Event, EventKind, KeyRange, KeyValue, Result, Revision, Store, WatchBatch};

/// Options of a [`Cache`].
#[derive(Clone, Debug)]
pub struct CacheOptions {
    /// The prefix of the keys of all objects, such as `/registry/`.
    pub prefix: Bytes,
    /// Maximum size of cached encodings in bytes, without the stored encoding.
    pub encodings: usize,
    /// Maximum number of changes queued for one watcher before its watch ends.
    pub queue: usize,
}

/// The watch cache of a whole store.
///
/// It is empty until [`Cache::start`]. Dropping it ends its tasks.
pub struct Cache {
    store: Arc<dyn Store>,
    options: CacheOptions,
    budget: Arc<CacheBudget>,
    routes: Mutex<Routes>,
    /// The keys of undecryptable values. They are read again, because a KMS plugin may still be starting.
    damaged: Mutex<BTreeSet<Bytes>>,
    /// Every change up to this revision has been applied and given to the watchers.
    revision: watch::Sender<Revision>,
}

/// Maps key prefixes to the caches of their resources.
#[derive(Default)]
struct Routes {
    /// By the prefix of their keys, which ends with `/`.
    claimed: HashMap<Bytes, Arc<ResourceCache>>,
    /// Values as stored, of resources that [`Cache::resource`] has not been called for.
    unclaimed: BTreeMap<Bytes, KeyValue>,
    /// The revision up to which `unclaimed` has every change; within a batch it is ahead of the cache's.
    revision: Revision,
}

impl Routes {
    /// Returns the resource of a key. Prefixes are of the form `/registry/pods/` or
    /// `/registry/example.com/things/`.
    fn find(&self, key: &[u8], skip: usize) -> Option<(&Bytes, &Arc<ResourceCache>)> {
        let slashes = key.iter().enumerate().skip(skip).filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        slashes.take(2).find_map(|slash| self.claimed.get_key_value(&key[..=slash]))
    }

    /// Replaces a value that was unreadable before.
    fn retry_unreadable(&mut self, kv: KeyValue, skip: usize) {
        if let Some((_, resource)) = self.find(&kv.key, skip) {
            resource.retry_unreadable(&kv);
        } else if let Some(unread) = self.unclaimed.get_mut(&kv.key).filter(|kept| kept.mod_revision == kv.mod_revision)
        {
            *unread = kv;
        }
    }

    fn keep(&mut self, event: &Event) {
        self.revision = event.revision();
        match event.kind {
            EventKind::Put => drop(self.unclaimed.insert(event.kv.key.clone(), event.kv.clone())),
            EventKind::Delete => drop(self.unclaimed.remove(&event.kv.key)),
        }
    }
}

/// How long [`Cache::wait_for`] waits for a change before it requests the progress of the watch.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(25);
/// Delay before the store is read again after a failure.
const RETRY: Duration = Duration::from_millis(200);
/// Delays between attempts to read unreadable values: the first, and the maximum.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(5);

impl Cache {
    /// Creates an empty cache.
    ///
    /// Values of resources that are claimed before the start are decoded as they are read.
    pub fn new(store: Arc<dyn Store>, options: CacheOptions) -> Arc<Self> {
        Arc::new(Cache {
            budget: CacheBudget::new(options.encodings),
            damaged: Mutex::default(),
            routes: Mutex::default(),
            revision: watch::Sender::new(0),
            store,
            options,
        })
    }

    /// Reads the store and starts the task that follows it.
    ///
    /// # Errors
    /// Those of the store during the first read.
    pub async fn start(self: &Arc<Self>) -> Result<()> {
        self.read_store().await?;
        tokio::spawn(follow(Arc::downgrade(self)));
        tokio::spawn(retry_unreadable(Arc::downgrade(self)));
        Ok(())
    }

    /// Returns the cache of the resource whose keys begin with `prefix`.
    ///
    /// The prefix ends with `/`. The first call claims the resource and sets its decoder.
    pub fn resource(&self, prefix: &Bytes, decoder: impl FnOnce() -> Arc<dyn EntryDecoder>) -> Arc<ResourceCache> {
        let mut routes = self.routes();
        if let Some(resource) = routes.claimed.get(prefix) {
            return resource.clone();
        }
        let resource = Arc::new(ResourceCache::new(self.factory(decoder())));
        let revision = routes.revision.max(self.revision());
        if revision > 0 {
            fill_from(&mut routes.unclaimed, prefix, &resource, revision);
        }
        routes.claimed.insert(prefix.clone(), resource.clone());
        resource
    }

    /// Returns the number and the size in bytes of the objects below `prefix`.
    ///
    /// `None` for an unclaimed resource.
    pub fn size(&self, prefix: &[u8]) -> Option<(usize, usize)> {
        let resource = self.routes().claimed.get(prefix)?.clone();
        Some(resource.size())
    }

    /// Releases a resource whose kind does not exist any more.
    ///
    /// Its watches end; its values are kept as stored.
    pub fn release(&self, prefix: &Bytes) {
        let mut routes = self.routes();
        let Some(resource) = routes.claimed.remove(prefix) else { return };
        routes.unclaimed.extend(stored(&resource.snapshot()));
        drop(routes);
        resource.end();
    }

    /// Returns the revision up to which every change has been applied.
    pub fn revision(&self) -> Revision {
        *self.revision.borrow()
    }

    /// Waits until every change up to a revision has been applied.
    ///
    /// Returns `false` when that takes longer than `timeout`.
    pub async fn wait_for(&self, revision: Revision, timeout: Duration) -> bool {
        if self.revision() >= revision {
            return true;
        }
        let mut progress = self.revision.subscribe();
        let deadline = tokio::time::Instant::now() + timeout;
        while tokio::time::Instant::now() < deadline {
            let reached = progress.wait_for(|reached| *reached >= revision);
            match tokio::time::timeout(PROGRESS_INTERVAL, reached).await.map(|reached| reached.is_ok()) {
                Ok(reached) => return reached,
                // The last change may lie outside the prefix; then only a progress notification shows
                // that the watch is up to date. A store that cannot send one leaves the wait to its
                // timeout.
                Err(_) => drop(self.store.request_progress().await),
            }
        }
        false
    }

    /// Returns the size of the cached encodings in bytes.
    pub fn encoded_bytes(&self) -> usize {
        self.budget.used()
    }

    fn factory(&self, decoder: Arc<dyn EntryDecoder>) -> EntryFactory {
        EntryFactory { decoder, budget: self.budget.clone(), queue: self.options.queue }
    }

    fn apply(&self, batch: &WatchBatch) {
        if let WatchBatch::Events { events, .. } = batch {
            for event in events {
                if event.kv.damage.is_some() {
                    self.damaged().insert(event.kv.key.clone());
                }
                let mut routes = self.routes();
                match routes.find(&event.kv.key, self.options.prefix.len()) {
                    Some((_, resource)) => {
                        let resource = resource.clone();
                        drop(routes);
                        resource.apply(event);
                    }
                    None => routes.keep(event),
                }
            }
        }
        self.revision.send_if_modified(|revision| {
            let newer = batch.revision() > *revision;
            *revision = batch.revision().max(*revision);
            newer
        });
    }

    /// Replaces all entries by the current contents of the store.
    async fn read_store(&self) -> Result<()> {
        let mut filling = Filling::default();
        let skip = self.options.prefix.len();
        let revision = reading::all_pages(&*self.store, &self.options.prefix, |kvs| {
            let routes = self.routes();
            kvs.into_iter().for_each(|kv| filling.take(routes.find(&kv.key, skip), kv));
        })
        .await?;
        self.replace(filling, revision);
        Ok(())
    }

    /// Puts the values that were read in place. Resources may have been claimed and released during the read.
    fn replace(&self, filling: Filling, revision: Revision) {
        let Filling { claimed: mut read, mut unclaimed, damaged } = filling;
        *self.damaged() = damaged;
        let mut routes = self.routes();
        let mut late = Vec::new();
        for (prefix, resource) in &routes.claimed {
            match read.remove(prefix) {
                Some(reading) if Arc::ptr_eq(&reading.resource, resource) => reading.finish(revision),
                released => {
                    unclaimed.extend(released.into_iter().flat_map(|reading| stored(&reading.objects)));
                    late.push((prefix, resource));
                }
            }
        }
        unclaimed.extend(read.into_values().flat_map(|reading| stored(&reading.objects)));
        for (prefix, resource) in late {
            fill_from(&mut unclaimed, prefix, resource, revision);
        }
        routes.unclaimed = unclaimed;
        routes.revision = revision;
        drop(routes);
        self.revision.send_replace(revision);
    }

    /// Reads unreadable values again; returns whether any of them is readable now.
    async fn retry_unreadable(&self) -> bool {
        let keys = self.damaged().clone();
        let mut recovered = false;
        for key in keys {
            let Ok(found) = self.store.get(&key, None).await else { break };
            match found.kv {
                Some(kv) if kv.damage.is_some() => continue,
                Some(kv) => self.routes().retry_unreadable(kv, self.options.prefix.len()),
                None => {}
            }
            self.damaged().remove(&key);
            recovered = true;
        }
        recovered
    }

    fn damaged(&self) -> MutexGuard<'_, BTreeSet<Bytes>> {
        self.damaged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn routes(&self) -> MutexGuard<'_, Routes> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the values as stored, by key, as far as they are still known ([`Entry::key_value`](super::Entry)).
fn stored(objects: &Snapshot) -> Vec<(Bytes, KeyValue)> {
    objects.iter().map(|entry| (entry.key.clone(), entry.key_value())).collect()
}

/// Moves a resource's values from the unclaimed ones into its cache.
fn fill_from(unclaimed: &mut BTreeMap<Bytes, KeyValue>, prefix: &Bytes, resource: &ResourceCache, revision: Revision) {
    let range = KeyRange::prefix(prefix.clone());
    let mut taken = unclaimed.split_off(range.start());
    if let Some(end) = range.end() {
        unclaimed.append(&mut taken.split_off(end));
    }
    let mut objects = Snapshot::at(revision);
    taken.into_values().for_each(|kv| drop(objects.insert(resource.entry(&kv))));
    resource.fill(objects);
}

/// Follows the store for as long as the cache exists.
async fn follow(cache: Weak<Cache>) {
    loop {
        match follow_once(&cache).await {
            None | Some(Error::Closed) => return,
            Some(error) => tracing::warn!(%error, "watch on the store failed; the watch cache lists the store again"),
        }
        let Some(strong) = cache.upgrade() else { return };
        match strong.read_store().await {
            Ok(()) => {}
            Err(Error::Closed) => return,
            Err(_) => tokio::time::sleep(RETRY).await,
        }
    }
}

/// Reads unreadable values again for as long as the cache exists.
async fn retry_unreadable(cache: Weak<Cache>) {
    let mut pause = FIRST_RETRY;
    loop {
        tokio::time::sleep(pause).await;
        let Some(cache) = cache.upgrade() else { return };
        let recovered = cache.retry_unreadable().await;
        pause = if recovered { FIRST_RETRY } else { (pause * 2).min(LAST_RETRY) };
    }
}

/// Follows one watch to its end; `None` when the cache does not exist any more.
async fn follow_once(cache: &Weak<Cache>) -> Option<Error> {
    let mut watch = {
        let strong = cache.upgrade()?;
        let from = strong.revision() + 1;
        match strong.store.watch(KeyRange::prefix(strong.options.prefix.clone()), Some(from)).await {
            Ok(watch) => watch,
            Err(error) => return Some(error),
        }
    };
    loop {
        match watch.next().await {
            Some(Ok(batch)) => cache.upgrade()?.apply(&batch),
            Some(Err(error)) => return Some(error),
            None => return Some(Error::Closed),
        }
    }
}
