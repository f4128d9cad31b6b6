//! Watches that start again after failures.

use std::sync::Arc;
use std::time::Duration;

use machinery::status::Status;

use crate::options::ListQuery;
use crate::resource::ResourceStore;
use crate::select::Predicate;
use crate::watch_events::WatchEvent;

/// Delay before a watch that has ended is started again.
const RETRY: Duration = Duration::from_secs(1);

/// What [`follow`] reports.
pub enum ReflectorEvent {
    /// A watch begins. All objects follow, then [`WatchEvent::InitialEventsEnd`]. Changes between two
    /// watches are not reported.
    Begun,
    /// An event of the watch.
    Event(WatchEvent),
}

/// Calls `on` for each event of a resource until the store is closed (upstream:
/// `Reflector.ListAndWatch`). A failure, also of `on`, is logged, and a new watch begins.
pub async fn follow(
    store: &Arc<ResourceStore>,
    predicate: &Predicate,
    mut on: impl FnMut(ReflectorEvent) -> Result<(), Status>,
) {
    loop {
        match follow_once(store, predicate, &mut on).await {
            // The watch was too slow, or the cache was filled again.
            Ok(()) => {}
            Err(status) if status.code == 503 => return,
            Err(status) => {
                let why = status.message;
                tracing::warn!(resource = %store.name(), why, "a watch failed; the resource is listed again");
            }
        }
        tokio::time::sleep(RETRY).await;
    }
}

async fn follow_once(
    store: &Arc<ResourceStore>,
    predicate: &Predicate,
    on: &mut impl FnMut(ReflectorEvent) -> Result<(), Status>,
) -> Result<(), Status> {
    let mut stream = store.watch("", predicate, &ListQuery::default(), true, Some(true)).await?;
    on(ReflectorEvent::Begun)?;
    while let Some(event) = stream.next().await {
        on(ReflectorEvent::Event(event?))?;
    }
    Ok(())
}
