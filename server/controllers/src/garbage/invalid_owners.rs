//! Events about owners that exist, but in another namespace than the dependent (upstream:
//! `reportInvalidNamespaceOwnerRef`).

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use endpoints::Loopback;
use generated::core::v1::ObjectReference;
use registry::Clock;

use super::metadata::Owner;
use super::watched::{Object, Resources, Watched};
use crate::recorder::Recorder;

/// Number of owners that are remembered as reported or as absent everywhere (upstream's
/// `absentOwnerCache` has this size).
const REMEMBERED: usize = 500;

/// Reports invalid owners.
pub struct InvalidOwners {
    recorder: Recorder,
    /// Pairs of dependent and owner that need no further look.
    seen: Mutex<HashSet<(Arc<str>, String)>>,
    /// Owners that exist nowhere. A uid is never used again.
    absent: Mutex<HashSet<String>>,
}

impl InvalidOwners {
    /// Creates the reporter.
    pub fn new(loopback: Loopback, clock: Arc<dyn Clock>) -> Self {
        let recorder = Recorder::new(loopback, clock, "garbage-collector-controller");
        InvalidOwners { recorder, seen: Mutex::default(), absent: Mutex::default() }
    }

    /// Creates an event if an owner, which is absent from the namespace of an object, is in another
    /// namespace.
    pub async fn report(&self, object: &Object, owner: &Owner, resources: &Resources) {
        let resource = resources.of_kind(&owner.api_version, &owner.kind).filter(|resource| resource.namespaced);
        if resource.is_some_and(|resource| self.is_elsewhere(resource, object, owner)) {
            self.create(object, owner).await;
        }
    }

    /// Whether the owner is in another namespace; `true` once for each pair.
    fn is_elsewhere(&self, resource: &Watched, object: &Object, owner: &Owner) -> bool {
        if lock(&self.absent).contains(&owner.uid) {
            return false;
        }
        let entries = resource.store.stored_entries_named(&owner.name);
        let owners = entries.iter().filter_map(|entry| resource.metadata(entry).ok());
        match owners.filter(|found| found.uid == owner.uid).map(|found| found.namespace).next() {
            Some(namespace) if *namespace == *object.namespace => false,
            Some(_) => remember(&self.seen, (object.uid.clone(), owner.uid.clone())),
            None => {
                remember(&self.absent, owner.uid.clone());
                false
            }
        }
    }

    async fn create(&self, object: &Object, owner: &Owner) {
        let namespace = &*object.namespace;
        let reference = format!(
            "[{}/{}, namespace: {namespace}, name: {}, uid: {}]",
            owner.api_version, owner.kind, owner.name, owner.uid
        );
        let involved = ObjectReference {
            api_version: object.resource.api_version(),
            kind: object.resource.kind.into(),
            namespace: namespace.into(),
            name: (*object.name).into(),
            uid: (*object.uid).into(),
            ..ObjectReference::default()
        };
        let message = format!("ownerRef {reference} does not exist in namespace {namespace:?}");
        self.recorder.warn(involved, "OwnerRefInvalidNamespace", message).await;
    }
}

fn lock<T>(mutex: &Mutex<HashSet<T>>) -> std::sync::MutexGuard<'_, HashSet<T>> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remembers an item; returns whether it is new.
fn remember<T: Eq + std::hash::Hash>(set: &Mutex<HashSet<T>>, item: T) -> bool {
    let mut set = lock(set);
    if set.len() >= REMEMBERED {
        set.clear();
    }
    set.insert(item)
}
