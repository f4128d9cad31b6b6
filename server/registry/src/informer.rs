//! A current copy of all objects of a resource in memory, for components that read them often (upstream: shared
//! informers).
//!
//! An informer lags behind the store while a change is on its way. Decisions that need current state
//! read the store.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use foldhash::fast::RandomState;
use machinery::reflect::{Owned, Ref, Struct};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use storage::cache::ChangeKind;

use crate::follow::{self, ReflectorEvent};
use crate::metadata::meta;
use crate::resource::ResourceStore;
use crate::select::Predicate;
use crate::watch_events::WatchEvent;

/// The group and plural of a resource.
type Name = (&'static str, &'static str);

/// The stores of all resources, by group and plural.
pub type Stores = HashMap<Name, Arc<ResourceStore>, RandomState>;

/// A function that is called with the old and the new object of every change.
///
/// It is called in order and before readers see the change. It runs on the informer's task and must not
/// block.
pub type Observer<T> = Box<dyn Fn(Option<&Arc<T>>, Option<&Arc<T>>) + Send + Sync>;

/// Removes the parts of an object that users do not read (upstream: `SetTransform`).
pub type Trim<T> = fn(&mut T);

/// The objects of a resource by namespace and name (upstream: shared informers).
///
/// Clones share one watch, which ends when the last clone is dropped.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use generated::core::v1::ConfigMap;
/// use registry::{Informer, ResourceStore};
///
/// async fn print_names(config_maps: &Arc<ResourceStore>) {
///     let informer = Informer::<ConfigMap>::start(config_maps);
///     informer.synced().await;
///     for object in informer.in_namespace("default") {
///         println!("{}", object.metadata.name);
///     }
/// }
/// ```
pub struct Informer<T>(Arc<Followed<T>>);

impl<T> Clone for Informer<T> {
    fn clone(&self) -> Self {
        Informer(self.0.clone())
    }
}

struct Followed<T> {
    state: Arc<State<T>>,
    task: AbortHandle,
}

impl<T> Drop for Followed<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// By `namespace/name`; cluster-scoped objects have an empty namespace.
type ByKey<T> = BTreeMap<String, Arc<T>>;

struct State<T> {
    objects: RwLock<Arc<ByKey<T>>>,
    /// Number of changes; 0 until the first list has arrived.
    changes: watch::Sender<u64>,
    observers: Vec<Observer<T>>,
    trim: Trim<T>,
}

impl<T: Struct> Informer<T> {
    /// Starts an informer of a resource with the hub type `T`. Needs a tokio runtime.
    pub fn start(store: &Arc<ResourceStore>) -> Self {
        Self::observed(store, Vec::new())
    }

    /// Starts an informer that keeps only what `trim` leaves of each object.
    ///
    /// Resources with large objects need it.
    pub fn trimmed(store: &Arc<ResourceStore>, trim: Trim<T>) -> Self {
        Self::follow(store, Vec::new(), trim)
    }

    /// Starts an informer that calls `observers` for every change.
    pub fn observed(store: &Arc<ResourceStore>, observers: Vec<Observer<T>>) -> Self {
        Self::follow(store, observers, |_| ())
    }

    fn follow(store: &Arc<ResourceStore>, observers: Vec<Observer<T>>, trim: Trim<T>) -> Self {
        let state = Arc::new(State { objects: RwLock::default(), changes: watch::Sender::new(0), observers, trim });
        let task = spawn(store.clone(), state.clone());
        Informer(Arc::new(Followed { state, task }))
    }

    /// Waits until the objects of the first list are known.
    pub async fn synced(&self) {
        // The sender lives as long as `self`, so waiting cannot fail.
        let _ = self.changes().wait_for(|changes| *changes > 0).await;
    }

    /// Returns a counter of changes, to wait for the next one.
    ///
    /// It is 0 until the informer has synced.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.state.changes.subscribe()
    }

    /// Returns an object, if it exists.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<T>> {
        self.0.state.read().get(&key(namespace, name)).cloned()
    }

    /// Returns whether there are no objects at present.
    pub fn is_empty(&self) -> bool {
        self.0.state.read().is_empty()
    }

    /// Returns all current objects, ordered by namespace and name.
    pub fn all(&self) -> Vec<Arc<T>> {
        self.0.state.read().values().cloned().collect()
    }

    /// Returns the objects of a namespace, ordered by name.
    pub fn in_namespace(&self, namespace: &str) -> Vec<Arc<T>> {
        let begin = key(namespace, "");
        let from = (Bound::Included(begin.as_str()), Bound::Unbounded);
        let objects = self.0.state.read();
        objects.range::<str, _>(from).take_while(|(key, _)| key.starts_with(&begin)).map(|(_, o)| o.clone()).collect()
    }
}

fn key(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}

impl<T> State<T> {
    fn read(&self) -> Arc<ByKey<T>> {
        self.objects.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns whether an object equals the known one. Trimmed objects seldom change.
    fn has(&self, key: &str, object: &Arc<T>) -> bool
    where
        T: Struct,
    {
        self.read().get(key).is_some_and(|known| Ref::of(&**known) == Ref::of(&**object))
    }

    /// Inserts, replaces or removes an object. Only the informer's task calls this.
    fn set(&self, key: &str, new: Option<Arc<T>>) {
        let old = self.read().get(key).cloned();
        self.observers.iter().for_each(|observer| observer(old.as_ref(), new.as_ref()));
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        // Copies the map, not the objects, and only while a reader holds the previous one.
        let objects = Arc::make_mut(&mut objects);
        match new {
            Some(new) => drop(objects.insert(key.to_owned(), new)),
            None => drop(objects.remove(key)),
        }
    }

    /// Replaces all objects.
    fn replace_all(&self, all: ByKey<T>) {
        let gone: Vec<String> = self.read().keys().filter(|key| !all.contains_key(*key)).cloned().collect();
        all.into_iter().for_each(|(key, object)| self.set(&key, Some(object)));
        gone.iter().for_each(|key| self.set(key, None));
    }

    fn announce(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }
}

/// What a followed resource changes, whatever the type of its objects.
///
/// The code that follows a resource uses this trait rather than a type parameter, because the compiler
/// would repeat the code for each type.
trait Objects: Send + Sync {
    /// Removes the parts of an object that users do not read.
    fn trim(&self, object: Owned) -> Owned;

    /// Replaces all objects.
    fn replace(&self, all: Vec<Owned>);

    /// Inserts, replaces or removes an object.
    fn change(&self, kind: ChangeKind, object: Owned);
}

impl<T: Struct> Objects for State<T> {
    fn trim(&self, object: Owned) -> Owned {
        let trimmed = object.into_inner::<T>().map(|mut object| {
            (self.trim)(&mut object);
            Owned::of(object)
        });
        trimmed.unwrap_or_else(|object| object)
    }

    fn replace(&self, all: Vec<Owned>) {
        self.replace_all(all.into_iter().filter_map(typed).collect());
        self.announce();
    }

    fn change(&self, kind: ChangeKind, object: Owned) {
        let Some((key, object)) = typed(object) else { return };
        if kind == ChangeKind::Modified && self.has(&key, &object) {
            return;
        }
        self.set(&key, (kind != ChangeKind::Deleted).then_some(object));
        self.announce();
    }
}

/// Starts a task that follows a resource.
fn spawn(store: Arc<ResourceStore>, objects: Arc<dyn Objects>) -> AbortHandle {
    tokio::spawn(follow(store, objects)).abort_handle()
}

/// Follows a resource until the store is closed.
async fn follow(store: Arc<ResourceStore>, objects: Arc<dyn Objects>) {
    let mut initial = None;
    let on = |followed| {
        match followed {
            ReflectorEvent::Begun => initial = Some(Vec::new()),
            ReflectorEvent::Event(WatchEvent::InitialEventsEnd(_)) => {
                objects.replace(initial.take().unwrap_or_default())
            }
            ReflectorEvent::Event(WatchEvent::Object(kind, entry)) => {
                let object = objects.trim(store.object(&entry)?);
                match &mut initial {
                    Some(all) => all.push(object),
                    None => objects.change(kind, object),
                }
            }
        }
        Ok(())
    };
    follow::follow(&store, &Predicate::default(), on).await;
}

/// Returns an object and its key; `None` for an object of another type, which only a wrong use of an
/// informer causes.
fn typed<T: Struct>(object: Owned) -> Option<(String, Arc<T>)> {
    let key = meta(object.as_ref()).map(|meta| key(&meta.namespace, &meta.name))?;
    Some((key, Arc::new(object.into_inner::<T>().ok()?)))
}

/// The informers of a server, at most one per resource.
pub struct Informers {
    stores: Arc<Stores>,
    running: Mutex<HashMap<Name, Box<dyn Any + Send>>>,
}

impl Informers {
    /// Creates the set of informers of these resources.
    ///
    /// Each informer starts on first use.
    pub fn new(stores: Arc<Stores>) -> Self {
        Informers { stores, running: Mutex::default() }
    }

    /// Returns the stores of the resources.
    pub fn stores(&self) -> &Arc<Stores> {
        &self.stores
    }

    /// Returns the informer of a resource with the hub type `T`.
    ///
    /// `None` when there is no such resource. Needs a tokio runtime.
    pub fn of<T: Struct>(&self, group: &'static str, plural: &'static str) -> Option<Informer<T>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(informer) = running.get(&(group, plural)) {
            return informer.downcast_ref::<Informer<T>>().cloned();
        }
        let informer = Informer::start(self.stores.get(&(group, plural))?);
        running.insert((group, plural), Box::new(informer.clone()));
        Some(informer)
    }
}
