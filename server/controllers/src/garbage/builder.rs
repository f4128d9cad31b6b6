//! Keeps the graph current: watches all resources, in their stored versions (upstream:
//! `GraphBuilder`).

use std::collections::{HashMap, HashSet};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::task::{Context as TaskContext, Poll, ready};
use std::time::Duration;

use endpoints::RunningServer;
use futures_util::stream::{SelectAll, Stream, StreamExt};
use machinery::status::Status;
use registry::{ChangeKind, WatchEvent, WatchStream};
use storage::cache::Entry;
use tokio::sync::{mpsc, oneshot, watch};

use super::graph::Graph;
use super::watched::{Object, Resources, Watched};
use crate::queue::Queue;

/// Delay before a failed watch is started again.
const RETRY: Duration = Duration::from_secs(1);
/// Barriers that may wait at a time; one for each worker would do.
const BARRIERS: usize = 256;

/// An object to look at.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Task {
    /// Delete the object if its owners are gone, or release it if it waited for its dependents.
    Collect(Object),
    /// Remove the object from the owners of its dependents, and release it.
    Orphan(Object),
}

/// What the builder and the workers share.
pub struct GraphState {
    /// The graph.
    graph: Mutex<Graph>,
    /// The resources of the server.
    resources: RwLock<Arc<Resources>>,
    /// Objects to look at.
    pub queue: Queue<Task>,
    /// Objects with an owner of an unknown kind, by uid.
    unresolved: Mutex<HashMap<Arc<str>, Object>>,
    barriers: mpsc::Sender<oneshot::Sender<()>>,
}

impl GraphState {
    /// Locks the graph.
    pub fn graph(&self) -> MutexGuard<'_, Graph> {
        self.graph.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The resources of the server at present.
    pub fn resources(&self) -> Arc<Resources> {
        self.resources.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until the graph has all changes that the cache had when this was called.
    pub async fn catch_up(&self) {
        let (reached, is_reached) = oneshot::channel();
        if self.barriers.send(reached).await.is_ok() {
            let _ = is_reached.await; // fails only when the builder ends
        }
    }

    /// Looks at an object again when the kinds of the server have changed.
    pub fn postpone(&self, object: Object) {
        self.unresolved.lock().unwrap_or_else(PoisonError::into_inner).insert(object.uid.clone(), object);
    }

    fn add_all(&self, objects: impl IntoIterator<Item = Object>) {
        objects.into_iter().for_each(|object| self.queue.add(Task::Collect(object)));
    }

    fn retry_unresolved(&self) {
        let unresolved = std::mem::take(&mut *self.unresolved.lock().unwrap_or_else(PoisonError::into_inner));
        self.add_all(unresolved.into_values());
    }
}

/// The watch of a resource.
struct Source {
    resource: Arc<Watched>,
    /// `None` after its end.
    stream: Option<WatchStream>,
    /// Objects of the graph that a repeated list has not shown yet.
    unseen: Option<HashSet<Arc<str>>>,
}

/// An item of a watch.
enum Item {
    Event(Arc<Watched>, WatchEvent),
    /// Objects that disappeared while nothing was watched.
    Gone(HashSet<Arc<str>>),
    /// The watch has ended; whether it still listed objects again, and its error.
    Ended(Arc<Watched>, bool, Option<Status>),
}

impl Stream for Source {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<Option<Item>> {
        let this = &mut *self;
        let Some(stream) = &mut this.stream else { return Poll::Ready(None) };
        let resource = this.resource.clone();
        Poll::Ready(Some(match ready!(stream.poll_next(context)) {
            Some(Ok(WatchEvent::InitialEventsEnd(_))) if this.unseen.is_some() => {
                Item::Gone(this.unseen.take().unwrap_or_default())
            }
            Some(Ok(event)) => Item::Event(resource, event),
            ended => {
                this.stream = None;
                Item::Ended(resource, this.unseen.take().is_some(), ended.and_then(Result::err))
            }
        }))
    }
}

impl Source {
    /// Whether no event waits to be read.
    fn is_idle(&self) -> bool {
        self.stream.as_ref().is_none_or(|stream| stream.progress().is_some())
    }
}

/// Keeps the graph current.
pub struct Builder {
    server: Arc<RunningServer>,
    shared: Arc<GraphState>,
    sources: SelectAll<Source>,
    barriers: mpsc::Receiver<oneshot::Sender<()>>,
    waiting: Vec<oneshot::Sender<()>>,
    /// Number of sources with unseen objects.
    relisting: usize,
}

impl Builder {
    /// Creates a builder, and what it shares with the workers of the queue.
    pub fn new(server: Arc<RunningServer>, queue: Queue<Task>) -> (Self, Arc<GraphState>) {
        let (send, barriers) = mpsc::channel(BARRIERS);
        let shared = Arc::new(GraphState {
            graph: Mutex::default(),
            resources: RwLock::default(),
            queue,
            unresolved: Mutex::default(),
            barriers: send,
        });
        let (sources, waiting) = (SelectAll::new(), Vec::new());
        (Builder { server, shared: shared.clone(), sources, barriers, waiting, relisting: 0 }, shared)
    }

    /// Watches all resources until the store is closed.
    pub async fn run(mut self) {
        let environment = self.server.environment.clone();
        let custom = environment.custom.get().and_then(std::sync::Weak::upgrade);
        // Without custom resources, the channel never changes.
        let (unchanged, never) = watch::channel(0);
        let mut kinds = custom.as_ref().map_or(never, |custom| custom.changes());
        let mut registrations = environment.discovery.registrations().changes();
        self.update_resources().await;
        loop {
            if !self.waiting.is_empty() && self.sources.iter().all(Source::is_idle) {
                self.waiting.drain(..).for_each(|reached| {
                    let _ = reached.send(()); // fails only for a worker that has stopped
                });
            }
            tokio::select! {
                biased;
                Some(item) = self.sources.next() => self.take(item).await,
                Some(barrier) = self.barriers.recv() => self.waiting.push(barrier),
                Ok(()) = kinds.changed() => self.update_resources().await,
                Ok(()) = registrations.changed() => self.shared.retry_unresolved(),
                else => break,
            }
        }
        drop(unchanged);
    }

    /// Watches new resources, and forgets those that are no longer served.
    async fn update_resources(&mut self) {
        let before = self.shared.resources();
        let now = Arc::new(Resources::of(&self.server, &before));
        *self.shared.resources.write().unwrap_or_else(PoisonError::into_inner) = now.clone();
        let is_current = |resource: &Arc<Watched>| now.by_cache.values().any(|other| Arc::ptr_eq(resource, other));
        for source in self.sources.iter_mut().filter(|source| !is_current(&source.resource)) {
            source.stream = None;
        }
        for old in before.by_cache.values().filter(|old| !is_current(old)) {
            // A changed definition has a new store with the same objects, which are listed again.
            let is_replaced = now.by_cache.values().any(|new| (new.group, new.plural) == (old.group, old.plural));
            let objects = self.shared.graph().of_resource(old);
            for uid in objects {
                let affected = self.shared.graph().remove(&uid);
                if !is_replaced {
                    self.shared.add_all(affected);
                }
            }
        }
        let is_new = |resource: &&Arc<Watched>| !before.by_cache.values().any(|old| Arc::ptr_eq(old, resource));
        for resource in now.by_cache.values().filter(is_new) {
            self.watch(resource.clone(), false).await;
        }
        self.shared.retry_unresolved();
    }

    /// Starts the watch of a resource.
    async fn watch(&mut self, resource: Arc<Watched>, again: bool) {
        loop {
            match resource.store.watch_stored().await {
                Ok(stream) => {
                    let unseen = again.then(|| self.shared.graph().of_resource(&resource));
                    self.relisting += usize::from(again);
                    return self.sources.push(Source { resource, stream: Some(stream), unseen });
                }
                Err(status) if status.code == 503 => return,
                Err(status) => {
                    let (name, why) = (resource.store.name(), status.message);
                    tracing::warn!(resource = %name, why, "watch of the garbage collector failed; retrying");
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    async fn take(&mut self, item: Item) {
        match item {
            Item::Event(resource, WatchEvent::Object(kind, entry)) => self.change(&resource, kind, &entry),
            Item::Event(_, WatchEvent::InitialEventsEnd(_)) => {}
            Item::Gone(objects) => {
                self.relisting = self.relisting.saturating_sub(1);
                for uid in objects {
                    let affected = self.shared.graph().remove(&uid);
                    self.shared.add_all(affected);
                }
                // Owners without a node may have gone as well.
                let all: Vec<Object> = self.shared.graph().objects().cloned().collect();
                self.shared.add_all(all);
            }
            Item::Ended(_, _, Some(status)) if status.code == 503 => {}
            Item::Ended(resource, relisted, _) => {
                self.relisting = self.relisting.saturating_sub(usize::from(relisted));
                let is_current = self.shared.resources().by_cache.values().any(|now| Arc::ptr_eq(now, &resource));
                if is_current {
                    self.watch(resource, true).await;
                }
            }
        }
    }

    fn change(&mut self, resource: &Arc<Watched>, kind: ChangeKind, entry: &Entry) {
        let metadata = match resource.metadata(entry) {
            Ok(metadata) => metadata,
            // The object cannot be read; other parts of the server report it.
            Err(_) => return,
        };
        let object = Object::new(resource, &metadata);
        if kind == ChangeKind::Deleted {
            let affected = self.shared.graph().remove(&object.uid);
            return self.shared.add_all(affected);
        }
        if self.relisting > 0 {
            let unseen = self.sources.iter_mut().filter_map(|source| source.unseen.as_mut());
            unseen.for_each(|unseen| {
                unseen.remove(&object.uid);
            });
        }
        if metadata.waits_for_orphans() {
            self.shared.queue.add(Task::Orphan(object.clone()));
        }
        let affected = self.shared.graph().store(object, &metadata);
        self.shared.add_all(affected);
    }
}
