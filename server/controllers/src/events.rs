//! Events of a resource, without a copy of its objects: the watch cache has them.

use std::sync::Arc;

use machinery::reflect::Struct;
use machinery::selector::FieldSelector;
use machinery::status::Status;
use registry::{ChangeKind, Predicate, ReflectorEvent, ResourceStore, WatchEvent};
use storage::cache::Entry;

/// An event of a resource.
pub enum Event<T> {
    /// An object was created, was changed, or exists at the start of the watch.
    Stored(T),
    /// An object was removed; its last state.
    Deleted(T),
    /// All objects that exist have been sent. Events before this one may have been missed.
    Listed,
}

/// Selects the objects with a name.
///
/// # Errors
/// The name cannot be in a selector.
pub fn named(name: &str) -> Result<Predicate, Status> {
    let fields = FieldSelector::parse(&format!("metadata.name={name}")).map_err(Status::internal)?;
    Ok(Predicate { fields, ..Predicate::default() })
}

/// Calls `on` for each object and for each change, as long as the store is open.
pub async fn follow<T: Struct>(store: &Arc<ResourceStore>, predicate: &Predicate, mut on: impl FnMut(Event<T>)) {
    let on = |followed| {
        match followed {
            ReflectorEvent::Begun => {}
            ReflectorEvent::Event(WatchEvent::InitialEventsEnd(_)) => on(Event::Listed),
            ReflectorEvent::Event(WatchEvent::Object(kind, entry)) => match (kind, typed(store, &entry)?) {
                (_, None) => {}
                (ChangeKind::Deleted, Some(object)) => on(Event::Deleted(object)),
                (ChangeKind::Added | ChangeKind::Modified, Some(object)) => on(Event::Stored(object)),
            },
        }
        Ok(())
    };
    registry::follow(store, predicate, on).await;
}

/// Decodes an entry in hub form; `None` for an object of another type.
fn typed<T: Struct>(store: &ResourceStore, entry: &Entry) -> Result<Option<T>, Status> {
    Ok(store.object(entry)?.into_inner().ok())
}
