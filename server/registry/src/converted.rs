//! Selection of objects that must be converted first, because the stored version does not have the
//! labels and fields of the requested one. Upstream's caches hold objects in that version, so selectors
//! evaluate the converted object.

use std::collections::VecDeque;
use std::sync::Arc;

use machinery::status::Status;
use storage::cache::{ChangeKind, Entry, Snapshot};
use storage::{KeyRange, Revision};

use crate::list::{SelectedPage, check_listed};
use crate::resource::ResourceStore;
use crate::select::Selector;
use crate::watch_events::{PendingEvent, Read, WatchEvent};

/// Maximum number of objects that a list converts at once.
const MAX_BATCH: usize = 500;
/// Minimum number of objects that a page converts at once.
const MIN_BATCH: usize = 16;

impl ResourceStore {
    /// Selects entries; the result has one item per entry, `None` if it is not selected. Entries are
    /// converted if the selector requires it.
    pub(crate) async fn selected(
        &self,
        selector: &Selector,
        entries: &[Arc<Entry>],
    ) -> Result<Vec<Option<Arc<Entry>>>, Status> {
        entries.iter().try_for_each(|entry| check_listed(entry))?;
        let mut wanted: Vec<Option<Arc<Entry>>> =
            entries.iter().map(|entry| Some(entry.clone()).filter(|entry| selector.may_match(entry))).collect();
        if selector.is_converted() {
            let converted = self.all_in_version(wanted.iter().flatten().cloned().collect()).await?;
            for (place, converted) in wanted.iter_mut().filter(|place| place.is_some()).zip(converted) {
                *place = place.take().and_then(|entry| selector.match_converted(&entry, converted));
            }
        }
        Ok(wanted)
    }

    /// Selects objects of a range up to a limit, with conversion ([`list::select_range`](crate::list)
    /// does so without).
    pub(crate) async fn select_range_converted(
        &self,
        snapshot: &Snapshot,
        selector: &Selector,
        range: &KeyRange,
        limit: usize,
    ) -> Result<SelectedPage, Status> {
        let at_once = if limit == 0 { MAX_BATCH } else { limit.clamp(MIN_BATCH, MAX_BATCH) };
        let (mut rest, mut taken) = (range.clone(), SelectedPage::default());
        loop {
            let some: Vec<Arc<Entry>> = snapshot.range(&rest).take(at_once).cloned().collect();
            let is_full = |taken: &SelectedPage| limit > 0 && taken.entries.len() == limit;
            if some.is_empty() || is_full(&taken) {
                return Ok(SelectedPage { more: !some.is_empty(), ..taken });
            }
            for (entry, wanted) in some.iter().zip(self.selected(selector, &some).await?) {
                if is_full(&taken) {
                    break;
                }
                rest = rest.after(&entry.key);
                taken.examined += 1;
                taken.entries.extend(wanted);
            }
        }
    }
}

/// Converts a batch of stored events to the events of a watcher, in the version of the store's users.
/// All objects are converted at once. If one conversion fails, the watch ends before the first event of
/// the batch.
pub(crate) async fn read(
    resource: Arc<ResourceStore>,
    selector: Arc<Selector>,
    batch: Vec<PendingEvent>,
) -> VecDeque<Read> {
    let others = batch.iter().flat_map(|event| objects(event).into_iter().flatten());
    let others = others.filter(|entry| entry.damage.is_none() && selector.may_match(entry)).cloned().collect();
    let mut converted = match resource.all_in_version(others).await {
        Ok(converted) => converted.into_iter(),
        Err(status) => return VecDeque::from([Some(Err(status))]),
    };
    let mut select = |entry: &Arc<Entry>| {
        if entry.damage.is_some() {
            // An unreadable object has no fields to evaluate.
            return Some(entry.clone());
        }
        selector.match_converted(entry, selector.may_match(entry).then(|| converted.next())??)
    };
    batch.into_iter().filter_map(|event| resolve_event(&resource, event, &mut select)).collect()
}

/// Returns the event for the watcher; `None` when none of its objects are selected.
fn resolve_event(
    resource: &ResourceStore,
    event: PendingEvent,
    select: &mut impl FnMut(&Arc<Entry>) -> Option<Arc<Entry>>,
) -> Option<Read> {
    let (kind, entry) = match event {
        PendingEvent::Other(read) => return Some(read),
        PendingEvent::Object(kind, entry) => (kind, select(&entry)?),
        PendingEvent::Change(change) => {
            let new = change.new.as_ref().and_then(&mut *select);
            let old = change.old.as_ref().and_then(&mut *select);
            classify(resource, new, old, change.revision)?
        }
    };
    Some(Some(check_listed(&entry).map(|()| WatchEvent::Object(kind, entry))))
}

/// Returns the type and the object of an event ([`Change::seen_by`](storage::cache::Change::seen_by))
/// from the selected objects of a change.
fn classify(
    resource: &ResourceStore,
    new: Option<Arc<Entry>>,
    old: Option<Arc<Entry>>,
    revision: Revision,
) -> Option<(ChangeKind, Arc<Entry>)> {
    match (old, new) {
        (None, Some(new)) => Some((ChangeKind::Added, new)),
        (Some(_), Some(new)) => Some((ChangeKind::Modified, new)),
        (Some(old), None) => Some((ChangeKind::Deleted, resource.cache.at_revision(&old, revision))),
        (None, None) => None,
    }
}

/// Returns the objects of an event, in the order of their selection.
fn objects(event: &PendingEvent) -> [Option<&Arc<Entry>>; 2] {
    match event {
        PendingEvent::Object(_, entry) => [Some(entry), None],
        PendingEvent::Change(change) => [change.new.as_ref(), change.old.as_ref()],
        PendingEvent::Other(_) => [None, None],
    }
}
