//! Selection where only a conversion tells what an object is in the version of the store's users. As upstream's caches, which hold objects in
//! that version, selectors look at labels and fields of the converted object.

use std::collections::VecDeque;
use std::sync::Arc;

use machinery::status::Status;
use storage::cache::{ChangeKind, Entry, Snapshot};
use storage::{KeyRange, Revision};

use crate::list::{Taken, check_listed};
use crate::resource::ResourceStore;
use crate::select::Selector;
use crate::watch::{PendingEvent, Read, WatchEvent};

/// How many objects of a list are converted at once.
const MOST: usize = 500;
/// The least number of objects that a page converts at once.
const LEAST: usize = 16;

impl ResourceStore {
    /// Those of some entries that are selected, each in its place. Of entries that a conversion has to tell about they are the converted ones.
    pub(crate) async fn wanted(
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
                *place = place.take().and_then(|entry| selector.judge(&entry, converted));
            }
        }
        Ok(wanted)
    }

    /// The wanted objects of a range up to a limit, as [`list::take`](crate::list) finds them without a conversion.
    pub(crate) async fn take_converted(
        &self,
        snapshot: &Snapshot,
        selector: &Selector,
        range: &KeyRange,
        limit: usize,
    ) -> Result<Taken, Status> {
        let at_once = if limit == 0 { MOST } else { limit.clamp(LEAST, MOST) };
        let (mut rest, mut taken) = (range.clone(), Taken::default());
        loop {
            let some: Vec<Arc<Entry>> = snapshot.range(&rest).take(at_once).cloned().collect();
            let is_full = |taken: &Taken| limit > 0 && taken.entries.len() == limit;
            if some.is_empty() || is_full(&taken) {
                return Ok(Taken { more: !some.is_empty(), ..taken });
            }
            for (entry, wanted) in some.iter().zip(self.wanted(selector, &some).await?) {
                if is_full(&taken) {
                    break;
                }
                rest = rest.after(&entry.key);
                taken.looked_at += 1;
                taken.entries.extend(wanted);
            }
        }
    }
}

/// What a watcher is told of what the store says, with all objects in the version of the store's users. They are converted at once, so that one
/// that cannot be ends the watch before all of them.
pub(crate) async fn read(
    resource: Arc<ResourceStore>,
    selector: Arc<Selector>,
    batch: Vec<PendingEvent>,
) -> VecDeque<Read> {
    let others = batch.iter().flat_map(|told| objects(told).into_iter().flatten());
    let others = others.filter(|entry| entry.damage.is_none() && selector.may_match(entry)).cloned().collect();
    let mut converted = match resource.all_in_version(others).await {
        Ok(converted) => converted.into_iter(),
        Err(status) => return VecDeque::from([Some(Err(status))]),
    };
    let mut judge = |entry: &Arc<Entry>| {
        if entry.damage.is_some() {
            // What cannot be read has no values.
            return Some(entry.clone());
        }
        selector.judge(entry, selector.may_match(entry).then(|| converted.next())??)
    };
    batch.into_iter().filter_map(|told| judged(&resource, told, &mut judge)).collect()
}

/// What a watcher is told, by what is wanted of the objects of an event; nothing when they are not.
fn judged(
    resource: &ResourceStore,
    told: PendingEvent,
    judge: &mut impl FnMut(&Arc<Entry>) -> Option<Arc<Entry>>,
) -> Option<Read> {
    let (kind, entry) = match told {
        PendingEvent::Other(read) => return Some(read),
        PendingEvent::Object(kind, entry) => (kind, judge(&entry)?),
        PendingEvent::Change(change) => {
            let new = change.new.as_ref().and_then(&mut *judge);
            let old = change.old.as_ref().and_then(&mut *judge);
            seen(resource, new, old, change.revision)?
        }
    };
    Some(Some(check_listed(&entry).map(|()| WatchEvent::Object(kind, entry))))
}

/// What a change is to a watcher ([`Change::seen_by`](storage::cache::Change::seen_by)), by the objects that it watches.
fn seen(
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

/// The objects of an event, in the order in which they are judged.
fn objects(told: &PendingEvent) -> [Option<&Arc<Entry>>; 2] {
    match told {
        PendingEvent::Object(_, entry) => [Some(entry), None],
        PendingEvent::Change(change) => [change.new.as_ref(), change.old.as_ref()],
        PendingEvent::Other(_) => [None, None],
    }
}
