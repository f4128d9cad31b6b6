//! Which failures have an event already. Repeated attempts fail alike, and each event is an object
//! (upstream: `record.EventCorrelator` counts them).

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::projection::Key;

/// The last failure of each service.
#[derive(Default)]
pub struct Failures(Mutex<HashMap<Key, String>>);

impl Failures {
    /// Records a failure; returns whether it differs from the last one.
    pub fn is_new(&self, key: &Key, why: &str) -> bool {
        let last = self.lock().insert(key.clone(), why.to_owned());
        last.is_none_or(|last| last != why)
    }

    /// Forgets the failure of a service that succeeds or is gone.
    pub fn forget(&self, key: &Key) {
        self.lock().remove(key);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_new_once_until_it_changes_or_ends() {
        let (failures, key) = (Failures::default(), ("n".to_owned(), "s".to_owned()));
        let is_new = |why| failures.is_new(&key, why);
        assert_eq!(["a", "a", "b", "a"].map(is_new), [true, false, true, true]);
        failures.forget(&key);
        assert!(failures.is_new(&key, "a"));
    }
}
