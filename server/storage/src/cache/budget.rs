//! The memory limit of cached encodings. Encodings that are being sent do not count as evictable.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::entry::Entry;
use super::repeat_filter::RepeatFilter;

/// The memory limit that all entries of a cache share. The oldest encodings are evicted first.
pub struct CacheBudget {
    limit: usize,
    used: AtomicUsize,
    kept: Mutex<Kept>,
    pub(super) repeats: RepeatFilter,
}

/// Entries with encodings, oldest first, and the length at which dropped entries are removed.
struct Kept {
    entries: VecDeque<Weak<Entry>>,
    sweep_at: usize,
}

const SWEEP: usize = 1024;

/// Maximum number of entries with encodings in use that an eviction skips.
const MOST_BUSY: usize = 16;

impl CacheBudget {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        let kept = Kept { entries: VecDeque::new(), sweep_at: SWEEP };
        Arc::new(CacheBudget {
            limit,
            used: AtomicUsize::new(0),
            kept: Mutex::new(kept),
            repeats: RepeatFilter::default(),
        })
    }

    /// Returns the bytes in use.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    pub(super) fn charge(&self, entry: &Arc<Entry>, bytes: usize) {
        let mut used = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.entries.push_back(Arc::downgrade(entry));
        let mut busy = 0;
        while used > self.limit && busy < MOST_BUSY.min(kept.entries.len()) {
            let Some(oldest) = kept.entries.pop_front() else { break };
            let Some(entry) = oldest.upgrade() else { continue };
            let (freed, is_busy) = entry.drop_unused_encodings();
            used = self.release(freed);
            if is_busy {
                busy += 1;
                kept.entries.push_back(oldest);
            }
        }
        if kept.entries.len() >= kept.sweep_at {
            kept.entries.retain(|entry| entry.strong_count() > 0);
            kept.sweep_at = SWEEP.max(2 * kept.entries.len());
        }
    }

    /// Subtracts `bytes` and returns the bytes that are still in use.
    pub(super) fn release(&self, bytes: usize) -> usize {
        self.used.fetch_sub(bytes, Ordering::Relaxed) - bytes
    }
}
