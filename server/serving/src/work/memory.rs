//! Accounts for the bytes that requests hold: request bodies, and responses for slow clients.
//!
//! [`machinery::budget`] counts the allocations of decoders; this module counts what remains while
//! a request waits. Each user has a share of the total, so that one user cannot exhaust it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use machinery::budget::{self, Budget, Exceeded};
use request::User;

/// The divisor of the memory of the machine, or of the control group, for the default limit.
const MEMORY_DIVISOR: u64 = 4;
/// The default limit if the memory is unknown.
const DEFAULT_LIMIT: u64 = 1 << 30;
/// The divisor of the total for the share of one user.
const USER_DIVISOR: u64 = 4;
/// Bodies and responses up to this size are not counted: the number of requests limits them.
pub const SMALL: u64 = 64 << 10;

/// The buffered bytes of a streamed body.
pub const STREAM: u64 = 256 << 10;

static LIMIT: OnceLock<u64> = OnceLock::new();

static HELD: LazyLock<Mutex<Accounts>> = LazyLock::new(|| Mutex::new(Accounts::new(limit() / 2)));

static DECODED: LazyLock<Arc<budget::Pool>> = LazyLock::new(|| budget::Pool::new(limit() / 2));

/// Sets the memory limit of all requests. Takes effect once, before the first request; 0 keeps the
/// default.
pub fn set_limit(bytes: u64) {
    if bytes > 0 {
        let _ = LIMIT.set(bytes); // a second server of the process, in a test, shares the limit of the first
    }
}

/// The memory limit of all requests.
pub fn limit() -> u64 {
    *LIMIT.get_or_init(|| available().map_or(DEFAULT_LIMIT, |bytes| bytes / MEMORY_DIVISOR))
}

/// The memory limit of the decoded objects of all requests.
pub(super) fn decoded_limit() -> u64 {
    limit() / 2
}

/// Creates the decoding budget of one request.
pub(super) fn budget() -> Arc<Budget> {
    Budget::within(&DECODED, decoded_limit())
}

/// The memory of the machine or of the control group, whichever is less.
fn available() -> Option<u64> {
    let of_machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
    });
    [of_machine, of_control_group()].into_iter().flatten().min()
}

/// The lowest `memory.max` of the process's control group and its ancestors (version 2, or the
/// mounted one of version 1).
fn of_control_group() -> Option<u64> {
    let read = |path: &Path| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
    let root = Path::new("/sys/fs/cgroup");
    let of_groups = Path::new(own).ancestors().filter_map(|group| read(&root.join(group).join("memory.max")));
    of_groups.chain(read(&root.join("memory/memory.limit_in_bytes"))).min()
}

/// The bytes held by each user.
struct Accounts {
    limit: u64,
    total: u64,
    users: HashMap<Box<str>, u64>,
}

impl Accounts {
    fn new(limit: u64) -> Self {
        Accounts { limit, total: 0, users: HashMap::new() }
    }

    /// Adds bytes to a user's account. The first allocation of a user may exceed the share.
    fn add(&mut self, user: &str, bytes: u64) -> Result<(), Exceeded> {
        let held = self.users.get(user).copied().unwrap_or_default();
        let is_within_share = held == 0 || held + bytes <= self.limit / USER_DIVISOR;
        if !is_within_share || (self.total > 0 && self.total + bytes > self.limit) {
            return Err(Exceeded::Pool { limit: self.limit });
        }
        self.total += bytes;
        *self.users.entry(user.into()).or_default() += bytes;
        Ok(())
    }

    fn release(&mut self, user: &str, bytes: u64) {
        self.total -= bytes;
        if let Some(held) = self.users.get_mut(user) {
            *held -= bytes;
            if *held == 0 {
                self.users.remove(user);
            }
        }
    }
}

/// Bytes that a request holds, until this is dropped.
#[derive(Default)]
pub struct HeldMemory {
    /// The user of the request; set with the first bytes.
    user: Option<Arc<User>>,
    bytes: u64,
}

impl HeldMemory {
    /// Counts bytes of a request of `user` before they are stored.
    ///
    /// # Errors
    /// The limit of the user or of all users is exceeded; the bytes are not counted.
    pub fn add(&mut self, user: &Arc<User>, bytes: u64) -> Result<(), Exceeded> {
        let user = self.user.get_or_insert_with(|| user.clone());
        HELD.lock().unwrap_or_else(PoisonError::into_inner).add(&user.name, bytes)?;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for HeldMemory {
    fn drop(&mut self) {
        if let Some(user) = self.user.as_ref().filter(|_| self.bytes > 0) {
            HELD.lock().unwrap_or_else(PoisonError::into_inner).release(&user.name, self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_bytes_per_user_and_in_total() {
        let (a, b) = ("a", "b");
        let mut accounts = Accounts::new(100);
        accounts.add(a, 20).unwrap();
        assert_eq!(accounts.add(a, 6), Err(Exceeded::Pool { limit: 100 }), "more than its share");
        accounts.add(a, 5).unwrap();
        accounts.add(b, 70).unwrap();
        assert!(accounts.add("c", 6).is_err(), "more than the total");
        accounts.release(a, 25);
        accounts.add("c", 6).unwrap();
        accounts.release(b, 70);
        assert_eq!((accounts.total, accounts.users.len()), (6, 1));
    }

    #[test]
    fn default_limit_is_a_share_of_memory() {
        assert!(available().is_some_and(|bytes| bytes > 64 << 20));
        assert!(limit() > 0);
    }
}
