//! A current copy of a part of each object of a resource, shared by the controllers that need it
//! (upstream: shared informers with a transform).

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use machinery::status::Status;
use registry::{ChangeKind, Predicate, ReflectorEvent, ResourceStore, WatchEvent};
use storage::cache::Entry;
use tokio::sync::watch;

/// Namespace and name of an object. The namespace of cluster-scoped objects is empty.
pub type Key = (String, String);

/// A function that is called with the old and the new part of each changed object. Readers see the
/// change before the call.
pub type OnChange<V> = Box<dyn Fn(&Key, Option<&Arc<V>>, Option<&Arc<V>>) + Send>;

/// The copies of a resource by namespace and name.
pub struct Projection<V> {
    copies: RwLock<BTreeMap<Key, Arc<V>>>,
    listeners: Mutex<Vec<OnChange<V>>>,
    is_listed: watch::Sender<bool>,
    /// Held by the controller that follows the resource for all.
    follower: tokio::sync::Mutex<()>,
}

impl<V> Default for Projection<V> {
    fn default() -> Self {
        Projection {
            copies: RwLock::default(),
            listeners: Mutex::default(),
            is_listed: watch::Sender::new(false),
            follower: tokio::sync::Mutex::default(),
        }
    }
}

impl<V: PartialEq> Projection<V> {
    /// Calls a listener for each known object, and for each change from now on.
    pub fn on_change(&self, listener: OnChange<V>) {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        let known: Vec<(Key, Arc<V>)> = self.read(|all| all.iter().map(|(k, v)| (k.clone(), v.clone())).collect());
        known.iter().for_each(|(key, copy)| listener(key, None, Some(copy)));
        listeners.push(listener);
    }

    /// Returns the copy of an object, if it exists.
    pub fn get(&self, key: &Key) -> Option<Arc<V>> {
        self.read(|all| all.get(key).cloned())
    }

    /// Returns the objects of a namespace that `wanted` selects, with their names, ordered by name.
    pub fn select(&self, namespace: &str, wanted: impl Fn(&V) -> bool) -> Vec<(String, Arc<V>)> {
        let begin = Bound::Included((namespace.to_owned(), String::new()));
        self.read(|all| {
            let within = all.range((begin, Bound::Unbounded)).take_while(|((of, _), _)| of == namespace);
            within.filter(|(_, v)| wanted(v)).map(|((_, name), v)| (name.clone(), v.clone())).collect()
        })
    }

    /// Waits until the objects of the first list are known.
    pub async fn listed(&self) {
        // The sender lives as long as `self`.
        let _ = self.is_listed.subscribe().wait_for(|is_listed| *is_listed).await;
    }

    /// Follows the resource until the store is closed. Of several callers, one does the work.
    pub async fn follow(&self, store: &Arc<ResourceStore>, project: impl Fn(&Entry) -> Result<V, Status>) {
        let _follower = self.follower.lock().await;
        let mut initial = None;
        let on = |followed| {
            match followed {
                ReflectorEvent::Begun => initial = Some(BTreeMap::new()),
                ReflectorEvent::Event(WatchEvent::InitialEventsEnd(_)) => {
                    self.replace(initial.take().unwrap_or_default());
                    self.is_listed.send_replace(true);
                }
                ReflectorEvent::Event(WatchEvent::Object(kind, entry)) => {
                    let key = key_of(store, &entry);
                    match &mut initial {
                        Some(all) => drop(all.insert(key, project(&entry)?)),
                        None if kind == ChangeKind::Deleted => self.set(key, None),
                        None => self.set(key, Some(project(&entry)?)),
                    }
                }
            }
            Ok(())
        };
        registry::follow(store, &Predicate::default(), on).await;
    }

    /// Replaces all copies after a list.
    fn replace(&self, all: BTreeMap<Key, V>) {
        let is_gone = |key: &&Key| !all.contains_key(*key);
        let gone: Vec<Key> = self.read(|known| known.keys().filter(is_gone).cloned().collect());
        all.into_iter().for_each(|(key, copy)| self.set(key, Some(copy)));
        gone.into_iter().for_each(|key| self.set(key, None));
    }

    fn set(&self, key: Key, new: Option<V>) {
        let new = new.map(Arc::new);
        let mut copies = self.copies.write().unwrap_or_else(PoisonError::into_inner);
        let old = match &new {
            Some(copy) => copies.insert(key.clone(), copy.clone()),
            None => copies.remove(&key),
        };
        drop(copies);
        if old.as_deref() != new.as_deref() {
            let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
            listeners.iter().for_each(|listener| listener(&key, old.as_ref(), new.as_ref()));
        }
    }

    fn read<T>(&self, of: impl FnOnce(&BTreeMap<Key, Arc<V>>) -> T) -> T {
        of(&self.copies.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The namespace and name in the key of an entry, its last segments.
fn key_of(store: &ResourceStore, entry: &Entry) -> Key {
    let text = std::str::from_utf8(&entry.key).unwrap_or_default();
    let mut segments = text.rsplit('/');
    let name = segments.next().unwrap_or_default();
    let namespace = segments.next().filter(|_| store.def.namespaced).unwrap_or_default();
    (namespace.to_owned(), name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        ("n".to_owned(), name.to_owned())
    }

    #[test]
    fn listeners_see_what_exists_then_each_difference_and_what_a_repeated_list_lacks() {
        let (projection, seen) = (Projection::<u8>::default(), Arc::new(Mutex::new(Vec::new())));
        projection.set(key("a"), Some(1));
        let log = seen.clone();
        projection.on_change(Box::new(move |key, old, new| {
            log.lock().unwrap().push((key.1.clone(), old.map(|v| **v), new.map(|v| **v)));
        }));
        projection.set(key("a"), Some(1));
        projection.set(key("b"), Some(2));
        projection.replace(BTreeMap::from([(key("b"), 3)]));
        let wanted = [
            ("a".to_owned(), None, Some(1)),
            ("b".to_owned(), None, Some(2)),
            ("b".to_owned(), Some(2), Some(3)),
            ("a".to_owned(), Some(1), None),
        ];
        assert_eq!(*seen.lock().unwrap(), wanted);
        assert_eq!(projection.select("n", |v| *v == 3).len(), 1);
        assert!(projection.select("m", |_| true).is_empty() && projection.get(&key("a")).is_none());
    }
}
