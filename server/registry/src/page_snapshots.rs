//! Snapshots of paginated lists, so that later pages are consistent with the first one without reading
//! the store.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use storage::Revision;
use storage::cache::Snapshot;

/// Maximum number of snapshots per resource; slower readers get later pages from the store's history.
const MAX_SNAPSHOTS: usize = 8;
/// How long a snapshot is kept.
const RETENTION: Duration = Duration::from_secs(75);

/// Snapshots by revision.
#[derive(Clone, Default)]
pub(crate) struct PageSnapshots(Arc<Mutex<VecDeque<(Revision, Snapshot)>>>);

impl PageSnapshots {
    /// Returns the snapshot at a revision.
    pub fn find(&self, revision: Revision) -> Option<Snapshot> {
        self.lock().iter().find(|(kept, _)| *kept == revision).map(|(_, snapshot)| snapshot.clone())
    }

    /// Keeps a snapshot for [`RETENTION`].
    pub fn keep(&self, revision: Revision, snapshot: Snapshot) {
        let mut kept = self.lock();
        if kept.iter().any(|(known, _)| *known == revision) {
            return;
        }
        if kept.len() == MAX_SNAPSHOTS {
            kept.pop_front();
        }
        kept.push_back((revision, snapshot));
        drop(kept);
        let snapshots = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(RETENTION).await;
            snapshots.lock().retain(|(known, _)| *known != revision);
        });
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Revision, Snapshot)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
