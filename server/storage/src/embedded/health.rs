//! The condition of a store: whether it accepts writes. Health checks read it, and the process that
//! ends after a final failure.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::{Error, Result};

/// How long one commit may take before the store counts as unhealthy: the disk hangs.
const SLOW: Duration = Duration::from_secs(2);

/// The free space on the disk, as far as it decides on writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Room {
    /// All writes are accepted.
    #[default]
    Enough,
    /// Deletes are accepted, and updates that do not make an object larger: removal of finalizers,
    /// renewal of leases.
    Low(String),
    /// Only deletes are accepted.
    Exhausted(String),
}

/// By how many bytes an update may enlarge an object while free space is low, for finalizers and
/// `deletionTimestamp`.
const SLACK: usize = 512;

impl Room {
    /// Checks whether a value of `new` bytes may be written in place of one of `old` bytes; `None` is a create.
    pub(super) fn admit(&self, new: usize, old: Option<usize>) -> Result<()> {
        match (self, old) {
            (Room::Enough, _) => Ok(()),
            (Room::Low(_), Some(old)) if new <= old + SLACK => Ok(()),
            (Room::Low(reason) | Room::Exhausted(reason), _) => Err(Error::NoSpace { reason: reason.clone() }),
        }
    }
}

/// The condition of a store. The writer thread changes it; other threads only read it.
#[derive(Debug)]
pub(super) struct StoreHealth {
    state: Mutex<State>,
    failed: watch::Sender<Option<Error>>,
    #[cfg(test)]
    pub(super) faults: super::faults::Faults,
}

#[derive(Debug, Default)]
struct State {
    room: Room,
    /// When the writer thread began its current commit.
    busy_since: Option<Instant>,
}

impl StoreHealth {
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::default(),
            failed: watch::Sender::new(None),
            #[cfg(test)]
            faults: Default::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner) // each change under the lock is complete
    }

    pub(super) fn set_room(&self, room: Room) {
        let before = std::mem::replace(&mut self.state().room, room.clone());
        if before == room {
            return;
        }
        match room {
            Room::Enough => {
                tracing::info!("the disk of the store has enough free space again; all writes are accepted")
            }
            Room::Low(reason) if matches!(before, Room::Enough) => {
                tracing::error!(reason, "the disk of the store is nearly full; creates and larger updates are refused");
            }
            Room::Low(_) => {}
            Room::Exhausted(reason) if !matches!(before, Room::Exhausted(_)) => {
                tracing::error!(reason, "the disk of the store is full; all writes but deletes are refused");
            }
            Room::Exhausted(_) => {}
        }
    }

    /// Records that the writer thread begins or ends a commit.
    pub(super) fn set_busy(&self, busy: bool) {
        self.state().busy_since = busy.then(Instant::now);
    }

    /// Records that the store will never accept a write again. The first error is kept.
    pub(super) fn fail(&self, error: Error) {
        self.failed.send_if_modified(|failed| {
            let is_first = failed.is_none();
            failed.get_or_insert(error);
            is_first
        });
    }

    /// Returns why the store will never accept a write again.
    pub(super) fn failure(&self) -> Option<Error> {
        self.failed.borrow().clone()
    }

    /// Waits until the store will never accept a write again.
    pub(super) async fn failed(&self) -> Error {
        let mut failed = self.failed.subscribe();
        // The sender lives as long as `self`, so waiting cannot fail.
        match failed.wait_for(Option::is_some).await.map(|error| error.clone()) {
            Ok(Some(error)) => error,
            _ => Error::Closed,
        }
    }

    /// Returns an error when writes are refused or do not complete at present.
    pub(super) fn check(&self) -> Result<()> {
        if let Some(error) = self.failure() {
            return Err(error);
        }
        let state = self.state();
        match (&state.room, state.busy_since.map(|since| since.elapsed())) {
            (_, Some(time)) if time > SLOW => Err(Error::Slow { seconds: time.as_secs() }),
            (Room::Low(reason) | Room::Exhausted(reason), _) => Err(Error::NoSpace { reason: reason.clone() }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn check_reports_why_writes_are_refused() {
        let condition = StoreHealth::new();
        assert!(condition.check().is_ok());
        condition.set_room(Room::Low("1 MiB is free".into()));
        assert_eq!(condition.check().unwrap_err().to_string(), "no space left for the store: 1 MiB is free");
        condition.set_room(Room::Enough);
        condition.set_busy(true);
        assert!(condition.check().is_ok());
        condition.state().busy_since = Instant::now().checked_sub(Duration::from_secs(7));
        assert_eq!(condition.check().unwrap_err().to_string(), "the store has been writing for 7 s without an end");
        condition.set_busy(false);
        assert!(condition.check().is_ok());
        condition.fail(Error::EmptyKey);
        condition.fail(Error::Closed);
        assert!(matches!(condition.check(), Err(Error::EmptyKey)));
        assert!(matches!(condition.failed().await, Error::EmptyKey));
    }
}
