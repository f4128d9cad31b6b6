//! What caches have done, for whoever measures them.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    pub fn add(&self, number: usize) {
        self.0.fetch_add(number as u64, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What the cache of a resource has done.
#[derive(Debug, Default)]
pub struct Counts {
    /// How often all objects were read from the store.
    pub fillings: Count,
    /// Changes that were taken in, and offered to watchers.
    pub changes: Count,
    /// Objects that watches began with.
    pub initial: Count,
    /// Watches that ended because their readers did not keep up.
    pub cut_off: Count,
}
