//! The writer thread: applies groups of requests, compaction and expiry, one database transaction at a time.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode};

use super::{
    EmbeddedOptions, SpaceLimits,
    apply::{Changes, next_expiry},
    directory::Directory,
    health::StoreHealth,
    hub::Hub,
    leases::Leases,
    queue::{CommitGroup, Compaction, Job, Outcome, ReplySender, Requests, Write},
    read::Revisions,
    space::Space,
    transaction::WriteTransaction,
};
use crate::{Error, Event, LeaseId, Result, Revision, clock::unix_millis, error::SharedError};

/// How long housekeeping pauses after a failure, such as a full disk.
const PAUSE_AFTER_ERROR: Duration = Duration::from_secs(1);
/// The longest sleep while leases exist, so that a change of the wall clock takes effect.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);
/// Maximum number of revisions that housekeeping processes in a transaction without writes.
const HOUSEKEEPING: usize = 1024;

pub(super) struct WriterThread {
    connection: Connection,
    _directory: Directory, // dropped after the connection, so that the lock outlives it
    hub: Arc<Hub>,
    /// Among other things, records that a commit failed half-way; then no write is accepted any more.
    condition: Arc<StoreHealth>,
    leases: Arc<Leases>,
    space: Space,
    requests: Requests,
    /// Who waits until compacted rows have been removed.
    awaiting_purge: Vec<ReplySender<()>>,
    state: Revisions,
    compaction: Option<CompactionTimer>,
    progress_interval: Duration,
    progress_due: Option<Instant>,
    /// No key expires before, in Unix milliseconds.
    next_expiry: Option<u64>,
    housekeeping_not_before: Instant,
}

/// Compacts at every tick to the revision of the previous tick.
struct CompactionTimer {
    interval: Duration,
    due: Instant,
    revision: Revision,
}

/// The result of a group.
struct Committed {
    state: Revisions,
    events: Vec<Arc<Event>>,
    outcomes: Vec<Result<Outcome>>,
    compactions: Vec<Result<()>>,
    /// The leases that have expired.
    expired: Vec<LeaseId>,
    next_expiry: Option<u64>,
}

/// What the writer shares with the callers.
pub(super) struct Shared {
    pub(super) hub: Arc<Hub>,
    pub(super) condition: Arc<StoreHealth>,
    pub(super) leases: Arc<Leases>,
}

impl WriterThread {
    pub(super) fn new(
        directory: Directory,
        connection: Connection,
        state: Revisions,
        Shared { hub, condition, leases }: Shared,
        requests: Requests,
        options: &EmbeddedOptions,
    ) -> Self {
        let now = Instant::now();
        let reserve_bytes = if options.durable { options.space.reserve_bytes } else { 0 };
        let space = Space::new(directory.path(), SpaceLimits { reserve_bytes, ..options.space });
        let timer = |interval| CompactionTimer { interval, due: now + interval, revision: state.revision };
        Self {
            connection,
            _directory: directory,
            hub,
            condition,
            leases,
            space,
            requests,
            awaiting_purge: Vec::new(),
            state,
            compaction: options.compaction_interval.map(timer),
            progress_interval: options.progress_interval,
            progress_due: None,
            next_expiry: Some(0), // leases may exist: check immediately
            housekeeping_not_before: now,
        }
    }

    /// Serves requests until the store is closed, then releases the directory.
    pub(super) fn run(mut self) {
        let answer = loop {
            let mut group = self.requests.receive(self.time_to_next_task());
            let close = group.close.take();
            self.tick(&mut group);
            self.serve(group);
            if let Some(answer) = close {
                break answer;
            }
        };
        let flushed = self.flush();
        drop(self);
        if let Some(answer) = answer {
            let _ = answer.send(flushed); // the caller may have given up waiting
        }
    }

    /// Runs the tasks that are due besides the requests.
    fn tick(&mut self, group: &mut CommitGroup) {
        let now = Instant::now();
        if let Some(timer) = self.compaction.as_mut().filter(|timer| timer.due <= now) {
            if timer.revision > self.state.compacted {
                group.compactions.push(Compaction { revision: timer.revision, answer: None, physical: false });
            }
            timer.revision = self.state.revision;
            timer.due = now + timer.interval;
        }
        if self.progress_due.take_if(|due| *due <= now).is_some() {
            let _ = self.hub.send_progress(); // fails only after this thread has closed the hub
        }
        self.check_space();
    }

    fn serve(&mut self, mut group: CommitGroup) {
        if let Some(error) = self.condition.failure() {
            self.awaiting_purge.drain(..).for_each(|answer| drop(answer.send(Err(error.clone()))));
            return refuse(group, &error);
        }
        for answer in std::mem::take(&mut group.defragments) {
            let _ = answer.send(self.defragment()); // the caller may have given up waiting
        }
        if group.writes.is_empty() && group.compactions.is_empty() && !self.has_housekeeping() {
            return;
        }
        let mut applied = self.apply_watched(&group);
        if matches!(applied, Err(Error::NoSpace { .. })) && self.space.exhausted() {
            self.condition.set_room(self.space.room().clone());
            // Try again: the released space is for the deletes of the group.
            applied = self.apply_watched(&group);
        }
        match applied {
            Ok(committed) => self.announce(group, committed),
            Err(error) => {
                tracing::error!(%error, "a group of writes failed");
                self.housekeeping_not_before = Instant::now() + PAUSE_AFTER_ERROR;
                let error = match error {
                    Error::Io(source) => Error::Failed(source),
                    other => other,
                };
                if matches!(error, Error::Failed(_)) {
                    self.condition.fail(error.clone());
                }
                refuse(group, &error);
            }
        }
    }

    /// Checks the free space on the disk when a check is due.
    fn check_space(&mut self) {
        if self.space.next_check() <= Instant::now() {
            self.space.check();
            self.condition.set_room(self.space.room().clone());
        }
    }

    /// Applies a group and records that the writer is busy, for health checks.
    fn apply_watched(&mut self, group: &CommitGroup) -> Result<Committed> {
        self.condition.set_busy(true);
        let applied = self.apply(group);
        self.condition.set_busy(false);
        applied
    }

    /// Applies a group and the due housekeeping, and makes them durable.
    fn apply(&mut self, group: &CommitGroup) -> Result<Committed> {
        let housekeeping = self.has_housekeeping() || !group.compactions.is_empty();
        let transaction = WriteTransaction::begin(&self.connection)?;
        let mut changes = Changes::new(transaction.connection(), self.state, self.space.room());
        let outcomes = group.writes.iter().map(|write| changes.perform(&write.job)).collect::<Result<_>>()?;
        let compactions = group.compactions.iter();
        let compactions = compactions.map(|compaction| changes.compact(compaction.revision)).collect::<Result<_>>()?;
        let mut expired = Vec::new();
        if housekeeping {
            expired = changes.expire_leases(&self.leases, HOUSEKEEPING)?;
            changes.expire(HOUSEKEEPING)?;
            // Faster than new garbage accumulates, but without delaying the writes of the same transaction.
            let share = if group.writes.is_empty() { HOUSEKEEPING } else { 2 * group.writes.len() + 64 };
            changes.purge(share)?;
        }
        let Changes { state, events, first_expiry, .. } = changes;
        let next_expiry = match housekeeping {
            true => next_expiry(transaction.connection())?,
            false => self.next_expiry.into_iter().chain(first_expiry).min(),
        };
        #[cfg(test)]
        self.condition.faults.apply_next()?;
        transaction.commit().map_err(commit_error)?;
        Ok(Committed { state, events, outcomes, compactions, expired, next_expiry })
    }

    /// Publishes events to the watchers, then answers the writers: an acknowledged write has been published.
    fn announce(&mut self, group: CommitGroup, committed: Committed) {
        let Committed { state, events, outcomes, compactions, expired, next_expiry } = committed;
        self.state = state;
        self.next_expiry = next_expiry;
        expired.into_iter().for_each(|id| self.leases.revoked(id));
        if !events.is_empty() {
            self.hub.publish(&events, state.revision);
            self.progress_due.get_or_insert_with(|| Instant::now() + self.progress_interval);
        }
        for (Write { job, answer, .. }, outcome) in group.writes.into_iter().zip(outcomes) {
            if outcome.is_ok() {
                self.follow(&job);
            }
            let _ = answer.send(outcome); // the caller may have given up waiting; its write is durable
        }
        for (Compaction { answer, physical, .. }, outcome) in group.compactions.into_iter().zip(compactions) {
            match (answer, outcome) {
                (Some(answer), Ok(())) if physical => self.awaiting_purge.push(answer),
                (answer, outcome) => report_compaction(answer, outcome),
            }
        }
        if !self.state.has_garbage() {
            self.awaiting_purge.drain(..).for_each(|answer| drop(answer.send(Ok(()))));
        }
    }

    /// Follows a durable change of the leases.
    fn follow(&self, job: &Job) {
        match job {
            Job::Grant { id, ttl } => self.leases.granted(*id, *ttl),
            Job::Revoke { id } => self.leases.revoked(*id),
            _ => {}
        }
    }

    /// Rewrites the database without the space that is not used.
    fn defragment(&self) -> Result<()> {
        self.condition.set_busy(true);
        let rewritten = self.connection.execute_batch("VACUUM");
        let flushed = rewritten.map_err(Error::from).and_then(|()| self.flush());
        self.condition.set_busy(false);
        flushed
    }

    fn has_housekeeping(&self) -> bool {
        let now = Instant::now();
        let expired = self.next_expiry.is_some_and(|at| at <= unix_millis())
            || self.leases.next_expiry().is_some_and(|at| at <= now);
        (expired || self.state.has_garbage()) && now >= self.housekeeping_not_before
    }

    /// Returns how long the thread may sleep without a request; `None` is unlimited.
    fn time_to_next_task(&self) -> Option<Duration> {
        let now = Instant::now();
        let timers =
            [self.compaction.as_ref().map(|timer| timer.due), self.progress_due, Some(self.space.next_check())];
        let timer = timers.into_iter().flatten().min().map(|due| due.saturating_duration_since(now));
        let key = self.next_expiry.map(|at| Duration::from_millis(at.saturating_sub(unix_millis())).min(LONGEST_SLEEP));
        let lease = self.leases.next_expiry().map(|at| at.saturating_duration_since(now));
        let purge = self.state.has_garbage().then_some(Duration::ZERO);
        let pause = self.housekeeping_not_before.saturating_duration_since(now);
        let housekeeping =
            if self.condition.failure().is_some() { None } else { key.into_iter().chain(lease).chain(purge).min() };
        timer.into_iter().chain(housekeeping.map(|wait| wait.max(pause))).min()
    }

    /// Moves the log into the database file, so that the next start needs no recovery.
    fn flush(&self) -> Result<()> {
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        self.condition.failure().map_or(Ok(()), Err)
    }
}

impl Drop for WriterThread {
    /// Ends the watches, also when the thread panics. No watcher may wait for events that cannot come.
    fn drop(&mut self) {
        if std::thread::panicking() {
            let error = std::io::Error::other("the writer thread of the store panicked");
            self.condition.fail(Error::Failed(SharedError(Arc::new(error))));
        }
        self.hub.close();
    }
}

fn commit_error(error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => error.into(), // the transaction was rolled back; there may be space again later
        _ => Error::Failed(SharedError(Arc::new(error))),
    }
}

fn refuse(group: CommitGroup, error: &Error) {
    for write in group.writes {
        let _ = write.answer.send(Err(error.clone())); // the caller may have given up waiting
    }
    for compaction in group.compactions {
        report_compaction(compaction.answer, Err(error.clone()));
    }
    for answer in group.defragments {
        let _ = answer.send(Err(error.clone()));
    }
}

fn report_compaction(answer: Option<ReplySender<()>>, outcome: Result<()>) {
    match (answer, outcome) {
        (Some(answer), outcome) => {
            let _ = answer.send(outcome); // the caller may have given up waiting
        }
        (None, Err(error)) => tracing::error!(%error, "the periodic compaction failed"),
        (None, Ok(())) => {}
    }
}
