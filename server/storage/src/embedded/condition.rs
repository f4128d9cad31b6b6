//! Whether the store takes writes at this moment, for health checks and for the process that has to end when it never will again.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::{Error, Result};

/// How long one commit may take before the store counts as sick: the disk hangs.
const SLOW: Duration = Duration::from_secs(2);

/// How much room there is on the disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Room {
    /// Everything is taken.
    #[default]
    Enough,
    /// Deletes are taken, and updates that do not make an object larger: finalizers go, leases are renewed.
    Low(String),
    /// Nothing but deletes is taken.
    Exhausted(String),
}

/// By how many bytes an update may make an object larger while there is little room: finalizers and the time of a deletion.
const SLACK: usize = 512;

impl Room {
    /// Whether a value of `new` bytes may be put in the place of one of `old` bytes, if there is one.
    pub(super) fn admit(&self, new: usize, old: Option<usize>) -> Result<()> {
        match (self, old) {
            (Room::Enough, _) => Ok(()),
            (Room::Low(_), Some(old)) if new <= old + SLACK => Ok(()),
            (Room::Low(reason) | Room::Exhausted(reason), _) => Err(Error::NoSpace { reason: reason.clone() }),
        }
    }
}

/// The condition of a store; the writer thread changes it, everyone else looks.
#[derive(Debug)]
pub(super) struct Condition {
    state: Mutex<State>,
    failed: watch::Sender<Option<Error>>,
    #[cfg(test)]
    pub(super) faults: super::faults::Faults,
}

#[derive(Debug, Default)]
struct State {
    room: Room,
    /// Since when the writer thread works on one commit.
    busy_since: Option<Instant>,
}

impl Condition {
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::default(),
            failed: watch::Sender::new(None),
            #[cfg(test)]
            faults: Default::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner) // each change under the lock is complete in itself
    }

    pub(super) fn set_room(&self, room: Room) {
        let before = std::mem::replace(&mut self.state().room, room.clone());
        if before == room {
            return;
        }
        match room {
            Room::Enough => tracing::info!("the disk of the store has room again; all writes are taken"),
            Room::Low(reason) if matches!(before, Room::Enough) => {
                tracing::error!(reason, "the disk of the store is nearly full; creates are refused");
            }
            Room::Low(_) => {}
            Room::Exhausted(reason) if !matches!(before, Room::Exhausted(_)) => {
                tracing::error!(reason, "the disk of the store is full; all writes but deletes are refused");
            }
            Room::Exhausted(_) => {}
        }
    }

    /// The writer thread begins a commit, or has ended it.
    pub(super) fn set_busy(&self, busy: bool) {
        self.state().busy_since = busy.then(Instant::now);
    }

    /// No write will ever be taken again. The first reason counts.
    pub(super) fn fail(&self, error: Error) {
        self.failed.send_if_modified(|failed| {
            let is_first = failed.is_none();
            failed.get_or_insert(error);
            is_first
        });
    }

    /// Why no write will ever be taken again.
    pub(super) fn failure(&self) -> Option<Error> {
        self.failed.borrow().clone()
    }

    /// Waits until no write will ever be taken again.
    pub(super) async fn failed(&self) -> Error {
        let mut failed = self.failed.subscribe();
        // The sender lives as long as `self`, so waiting cannot fail.
        match failed.wait_for(Option::is_some).await.map(|error| error.clone()) {
            Ok(Some(error)) => error,
            _ => Error::Closed,
        }
    }

    /// Why writes are refused or stuck at this moment.
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
    async fn what_is_wrong_is_told() {
        let condition = Condition::new();
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
