//! Leases of etcd's API: their table, and the times at which they expire.
//!
//! As in etcd, a lease and its lifetime are durable, and its expiry is not: a renewal writes nothing,
//! and every lease has its whole lifetime again after the store is opened.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension};

use crate::{LeaseId, Result};

/// Adds a lease that does not exist.
pub(super) fn insert(connection: &Connection, id: LeaseId, ttl: u64) -> Result<()> {
    connection.prepare_cached("INSERT INTO lease (id, ttl) VALUES (?1, ?2)")?.execute((id, ttl))?;
    Ok(())
}

/// Removes a lease without keys.
pub(super) fn remove(connection: &Connection, id: LeaseId) -> Result<()> {
    connection.prepare_cached("DELETE FROM lease WHERE id = ?1")?.execute([id])?;
    Ok(())
}

/// Returns the lifetime of a lease in seconds, if it exists.
pub(super) fn ttl(connection: &Connection, id: LeaseId) -> Result<Option<u64>> {
    let mut select = connection.prepare_cached("SELECT ttl FROM lease WHERE id = ?1")?;
    Ok(select.query_row([id], |row| row.get(0)).optional()?)
}

/// Returns the keys of a lease, in order.
pub(super) fn keys(connection: &Connection, id: LeaseId) -> Result<Vec<Bytes>> {
    let mut select = connection.prepare_cached("SELECT key FROM current WHERE lease = ?1 AND live = 1 ORDER BY key")?;
    let keys = select.query_map([id], |row| row.get::<_, Vec<u8>>(0).map(Bytes::from))?;
    Ok(keys.collect::<rusqlite::Result<_>>()?)
}

/// The expiry of all leases, in this process.
#[derive(Debug, Default)]
pub(super) struct Leases(Mutex<Expiries>);

#[derive(Debug, Default)]
struct Expiries {
    by_id: HashMap<LeaseId, Lease>,
    by_time: BTreeSet<(Instant, LeaseId)>,
}

#[derive(Clone, Copy, Debug)]
struct Lease {
    ttl: u64,
    expires: Instant,
}

impl Leases {
    /// Reads the leases of a store, and starts their lifetimes.
    pub(super) fn load(connection: &Connection) -> Result<Self> {
        let leases = Self::default();
        let mut select = connection.prepare("SELECT id, ttl FROM lease")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            leases.granted(row.get(0)?, row.get(1)?);
        }
        Ok(leases)
    }

    /// Records a lease that is durable now.
    pub(super) fn granted(&self, id: LeaseId, ttl: u64) {
        self.lock().set(id, ttl);
    }

    /// Records that a lease does not exist any more.
    pub(super) fn revoked(&self, id: LeaseId) {
        self.lock().remove(id);
    }

    /// Restarts a lease. Returns its lifetime in seconds; `None` when it does not exist or has expired.
    pub(super) fn renew(&self, id: LeaseId) -> Option<u64> {
        let mut expiries = self.lock();
        let lease = *expiries.by_id.get(&id).filter(|lease| lease.expires > Instant::now())?;
        expiries.set(id, lease.ttl);
        Some(lease.ttl)
    }

    /// Returns the lifetime in seconds and the remaining time of a lease that has not expired.
    pub(super) fn get(&self, id: LeaseId) -> Option<(u64, Duration)> {
        let lease = *self.lock().by_id.get(&id)?;
        let remaining = lease.expires.checked_duration_since(Instant::now())?;
        Some((lease.ttl, remaining))
    }

    /// Returns all leases, the next one to expire first.
    pub(super) fn all(&self) -> Vec<LeaseId> {
        self.lock().by_time.iter().map(|(_, id)| *id).collect()
    }

    /// Returns expired leases, the longest expired first.
    pub(super) fn expired(&self, limit: usize) -> Vec<LeaseId> {
        let now = Instant::now();
        self.lock().by_time.iter().take_while(|(expires, _)| *expires <= now).take(limit).map(|(_, id)| *id).collect()
    }

    /// Returns when the next lease expires.
    pub(super) fn next_expiry(&self) -> Option<Instant> {
        self.lock().by_time.first().map(|(expires, _)| *expires)
    }

    fn lock(&self) -> MutexGuard<'_, Expiries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner) // each change under the lock is complete
    }
}

impl Expiries {
    fn set(&mut self, id: LeaseId, ttl: u64) {
        self.remove(id);
        let now = Instant::now();
        let expires = now.checked_add(Duration::from_secs(ttl)).unwrap_or_else(|| now + Duration::from_secs(1 << 32));
        self.by_id.insert(id, Lease { ttl, expires });
        self.by_time.insert((expires, id));
    }

    fn remove(&mut self, id: LeaseId) {
        if let Some(lease) = self.by_id.remove(&id) {
            self.by_time.remove(&(lease.expires, id));
        }
    }
}
