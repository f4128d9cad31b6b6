//! Snapshots of lists that are being read page by page, so that later pages show what the first one did without asking the store.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use storage::Revision;
use storage::cache::Snapshot;

/// How many are kept of one resource; who reads slower gets the pages from the store's history.
const KEPT: usize = 8;
/// How long one is kept.
const LIFE: Duration = Duration::from_secs(75);

/// See the module.
#[derive(Clone, Default)]
pub(crate) struct PageSnapshots(Arc<Mutex<VecDeque<(Revision, Snapshot)>>>);

impl PageSnapshots {
    /// The snapshot that shows a revision.
    pub fn find(&self, revision: Revision) -> Option<Snapshot> {
        self.lock().iter().find(|(kept, _)| *kept == revision).map(|(_, snapshot)| snapshot.clone())
    }

    /// Keeps a snapshot for a while.
    pub fn keep(&self, revision: Revision, snapshot: Snapshot) {
        let mut kept = self.lock();
        if kept.iter().any(|(known, _)| *known == revision) {
            return;
        }
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back((revision, snapshot));
        drop(kept);
        let past = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(LIFE).await;
            past.lock().retain(|(known, _)| *known != revision);
        });
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Revision, Snapshot)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
