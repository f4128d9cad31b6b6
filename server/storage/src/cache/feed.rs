//! The task that follows the store, and what it keeps for resources that nobody has claimed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;

use super::budget::Budget;
use super::reading::{self, Filling};
use super::resource::{EntryDecoder, ResourceCache, Shaper};
use super::snapshot::Snapshot;
use crate::{Error, Event, EventKind, KeyRange, KeyValue, Result, Revision, Store, WatchBatch};

/// How a cache behaves.
#[derive(Clone, Debug)]
pub struct CacheOptions {
    /// What the keys of all objects begin with, such as `/registry/`.
    pub prefix: Bytes,
    /// How many bytes of encodings other than the stored one may be kept.
    pub encodings: usize,
    /// How many changes may wait for one watcher before it is cut off.
    pub queue: usize,
}

/// The cache of a whole store, which is empty until it is started. Dropping it ends its task.
pub struct Cache {
    store: Arc<dyn Store>,
    options: CacheOptions,
    budget: Arc<Budget>,
    routes: Mutex<Routes>,
    /// The keys of values that could not be read. They are read again, because what decrypts them may only be on its way: a KMS plugin that
    /// is still starting.
    damaged: Mutex<BTreeSet<Bytes>>,
    /// Every change up to this revision has been taken in and given to the watchers.
    revision: watch::Sender<Revision>,
}

/// Where the objects below a prefix go.
#[derive(Default)]
struct Routes {
    /// By the prefix of their keys, which ends with `/`.
    claimed: HashMap<Bytes, Arc<ResourceCache>>,
    /// As they were stored, until someone claims them.
    unclaimed: BTreeMap<Bytes, KeyValue>,
    /// The revision up to which `unclaimed` has every change; within a batch it runs ahead of the cache's.
    revision: Revision,
}

impl Routes {
    /// The resource that a key belongs to: prefixes are `/registry/pods/` and `/registry/example.com/things/`.
    fn find(&self, key: &[u8], skip: usize) -> Option<(&Bytes, &Arc<ResourceCache>)> {
        let slashes = key.iter().enumerate().skip(skip).filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        slashes.take(2).find_map(|slash| self.claimed.get_key_value(&key[..=slash]))
    }

    /// Takes in a value that can be read now and could not before.
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

/// How long to wait for a change before the store is asked how far the watch has come.
const ASK_AGAIN: Duration = Duration::from_millis(25);
/// How long to wait before a store that failed is read again.
const RETRY: Duration = Duration::from_millis(200);
/// How long to wait before values are read again that could not be, at first and in the end.
const HEAL_FIRST: Duration = Duration::from_secs(1);
const HEAL_LAST: Duration = Duration::from_secs(5);

impl Cache {
    /// A cache of nothing yet. What is claimed before it starts is read straight into its entries.
    pub fn new(store: Arc<dyn Store>, options: CacheOptions) -> Arc<Self> {
        Arc::new(Cache {
            budget: Budget::new(options.encodings),
            damaged: Mutex::default(),
            routes: Mutex::default(),
            revision: watch::Sender::new(0),
            store,
            options,
        })
    }

    /// Reads the store and begins to follow it.
    ///
    /// # Errors
    /// Those of the store while it is first read.
    pub async fn start(self: &Arc<Self>) -> Result<()> {
        self.read_store().await?;
        tokio::spawn(follow(Arc::downgrade(self)));
        tokio::spawn(retry_unreadable(Arc::downgrade(self)));
        Ok(())
    }

    /// The cache of the resource whose keys begin with `prefix`, which ends with `/`. Whoever claims it first says how its objects are read.
    pub fn resource(&self, prefix: &Bytes, describe: impl FnOnce() -> Arc<dyn EntryDecoder>) -> Arc<ResourceCache> {
        let mut routes = self.routes();
        if let Some(resource) = routes.claimed.get(prefix) {
            return resource.clone();
        }
        let resource = Arc::new(ResourceCache::new(self.shaper(describe())));
        let revision = routes.revision.max(self.revision());
        if revision > 0 {
            fill_from(&mut routes.unclaimed, prefix, &resource, revision);
        }
        routes.claimed.insert(prefix.clone(), resource.clone());
        resource
    }

    /// How many objects and bytes there are of the resource whose keys begin with `prefix`; none if nobody has claimed it.
    pub fn size(&self, prefix: &[u8]) -> Option<(usize, usize)> {
        let resource = self.routes().claimed.get(prefix)?.clone();
        Some(resource.size())
    }

    /// Gives a resource up, whose kind is no longer known; all its watches end. What there is of it is kept as it was stored.
    pub fn release(&self, prefix: &Bytes) {
        let mut routes = self.routes();
        let Some(resource) = routes.claimed.remove(prefix) else { return };
        routes.unclaimed.extend(stored(&resource.snapshot()));
        drop(routes);
        resource.end();
    }

    /// Every change up to this revision has been taken in.
    pub fn revision(&self) -> Revision {
        *self.revision.borrow()
    }

    /// Waits until every change up to a revision has been taken in; false when that took longer than `patience`.
    pub async fn wait_for(&self, revision: Revision, patience: Duration) -> bool {
        if self.revision() >= revision {
            return true;
        }
        let mut progress = self.revision.subscribe();
        let patience = tokio::time::Instant::now() + patience;
        while tokio::time::Instant::now() < patience {
            let reached = progress.wait_for(|reached| *reached >= revision);
            match tokio::time::timeout(ASK_AGAIN, reached).await.map(|reached| reached.is_ok()) {
                Ok(reached) => return reached,
                // The revision may be that of a key elsewhere, of which this watch only learns by asking. Who cannot ask waits in vain.
                Err(_) => drop(self.store.request_progress().await),
            }
        }
        false
    }

    /// Bytes of encodings that are kept besides the stored ones.
    pub fn encoded_bytes(&self) -> usize {
        self.budget.used()
    }

    fn shaper(&self, describe: Arc<dyn EntryDecoder>) -> Shaper {
        Shaper { describe, budget: self.budget.clone(), queue: self.options.queue }
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

    /// Replaces everything by what the store has now.
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

    /// Resources may have been claimed and released while the store was read.
    fn replace(&self, filling: Filling, revision: Revision) {
        let Filling { claimed: mut read, mut unclaimed, damaged } = filling;
        *self.damaged() = damaged;
        let mut routes = self.routes();
        let mut late = Vec::new();
        for (prefix, resource) in &routes.claimed {
            match read.remove(prefix) {
                Some(reading) if Arc::ptr_eq(&reading.resource, resource) => reading.finish(revision),
                given_up => {
                    unclaimed.extend(given_up.into_iter().flat_map(|reading| stored(&reading.objects)));
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

    /// Reads values again that could not be read; whether any of them can be now.
    async fn retry_unreadable(&self) -> bool {
        let keys = self.damaged().clone();
        let mut healed = false;
        for key in keys {
            let Ok(found) = self.store.get(&key, None).await else { break };
            match found.kv {
                Some(kv) if kv.damage.is_some() => continue,
                Some(kv) => self.routes().retry_unreadable(kv, self.options.prefix.len()),
                None => {}
            }
            self.damaged().remove(&key);
            healed = true;
        }
        healed
    }

    fn damaged(&self) -> MutexGuard<'_, BTreeSet<Bytes>> {
        self.damaged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn routes(&self) -> MutexGuard<'_, Routes> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was stored, by key, as far as it is still known ([`Entry::key_value`](super::Entry)).
fn stored(objects: &Snapshot) -> Vec<(Bytes, KeyValue)> {
    objects.iter().map(|entry| (entry.key.clone(), entry.key_value())).collect()
}

/// Gives a resource what is its own of what nobody had claimed.
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

/// Follows the store for as long as there is a cache.
async fn follow(cache: Weak<Cache>) {
    loop {
        match follow_once(&cache).await {
            None | Some(Error::Closed) => return,
            Some(error) => tracing::warn!(%error, "the watch cache reads the store anew"),
        }
        let Some(strong) = cache.upgrade() else { return };
        match strong.read_store().await {
            Ok(()) => {}
            Err(Error::Closed) => return,
            Err(_) => tokio::time::sleep(RETRY).await,
        }
    }
}

/// Reads values again that could not be read, for as long as there is a cache.
async fn retry_unreadable(cache: Weak<Cache>) {
    let mut pause = HEAL_FIRST;
    loop {
        tokio::time::sleep(pause).await;
        let Some(cache) = cache.upgrade() else { return };
        let healed = cache.retry_unreadable().await;
        pause = if healed { HEAL_FIRST } else { (pause * 2).min(HEAL_LAST) };
    }
}

/// Follows one watch to its end; `None` when the cache is gone.
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
