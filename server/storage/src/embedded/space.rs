//! Free space on the disk of the store, and a reserve file. When the disk is full, the reserve is
//! released so that deletes and compactions still work.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, fallocate, statvfs};

use super::health::Room;

/// The file that reserves blocks for deletes.
pub(super) const RESERVE: &str = "reserve";
/// Minimum interval of checks of the disk, and their interval while free space is low.
const PERIOD: Duration = Duration::from_millis(250);
/// Interval of checks of the disk while free space is sufficient.
pub(super) const IDLE_PERIOD: Duration = Duration::from_secs(5);

/// When a disk counts as nearly full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceLimits {
    /// Free bytes below which creates and updates that enlarge an object are refused.
    pub low_bytes: u64,
    /// Below this number of free bytes, everything but deletes is refused.
    pub exhausted_bytes: u64,
    /// Size of the reserve file in bytes; 0 for none.
    pub reserve_bytes: u64,
}

impl Default for SpaceLimits {
    fn default() -> Self {
        Self { low_bytes: 64 << 20, exhausted_bytes: 24 << 20, reserve_bytes: 8 << 20 }
    }
}

/// Checks the free space on the disk of one directory.
pub(super) struct Space {
    directory: PathBuf,
    limits: SpaceLimits,
    room: Room,
    checked_at: Option<Instant>,
    /// Whether the reserve could not be allocated. It is attempted again after free space has been low.
    allocation_failed: bool,
}

impl Space {
    pub(super) fn new(directory: &Path, limits: SpaceLimits) -> Self {
        Self { directory: directory.to_owned(), limits, room: Room::Enough, checked_at: None, allocation_failed: false }
    }

    pub(super) fn room(&self) -> &Room {
        &self.room
    }

    /// Returns when the disk should be checked again.
    pub(super) fn next_check(&self) -> Instant {
        let period = if self.room == Room::Enough { IDLE_PERIOD } else { PERIOD };
        self.checked_at.map_or_else(Instant::now, |checked_at| checked_at + period)
    }

    /// Checks the disk, unless the last check is less than [`PERIOD`] ago.
    pub(super) fn check(&mut self) {
        let now = Instant::now();
        if self.checked_at.is_some_and(|checked_at| now < checked_at + PERIOD) {
            return;
        }
        self.checked_at = Some(now);
        // Where `statvfs` fails, a full disk is detected when a write fails.
        if let Ok(found) = statvfs(&self.directory) {
            self.room = self.classify(found.f_bavail.saturating_mul(found.f_frsize));
        }
        match self.room {
            Room::Enough => self.keep_reserve(),
            _ => self.allocation_failed = false,
        }
    }

    fn classify(&self, free: u64) -> Room {
        let SpaceLimits { low_bytes, exhausted_bytes, reserve_bytes } = self.limits;
        // After a shortage more space is required: the reserve has to be allocated, and the state must
        // not flap.
        let margin = if self.room == Room::Enough { 0 } else { low_bytes / 4 + reserve_bytes };
        let reason = |limit: u64| format!("{} of {} bytes that have to be free", free, limit);
        if free < exhausted_bytes {
            Room::Exhausted(reason(exhausted_bytes))
        } else if free < low_bytes + margin {
            Room::Low(reason(low_bytes + margin))
        } else {
            Room::Enough
        }
    }

    /// Releases the reserve after a write found the disk full; `false` when that was known and no
    /// reserve was left.
    pub(super) fn exhausted(&mut self) -> bool {
        let path = self.directory.join(RESERVE);
        let was_known = matches!(self.room, Room::Exhausted(_));
        let removed = fs::remove_file(&path);
        let is_released = removed.is_ok();
        match removed {
            Ok(()) => tracing::warn!(path = %path.display(), "the disk is full; the reserve of the store is released"),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                tracing::error!(path = %path.display(), %error, "the reserve of the store cannot be released")
            }
        }
        self.checked_at = Some(Instant::now());
        self.room = Room::Exhausted("the disk is full".into());
        is_released || !was_known
    }

    /// Allocates the reserve file if it does not exist.
    fn keep_reserve(&mut self) {
        let path = self.directory.join(RESERVE);
        if self.limits.reserve_bytes == 0 || self.allocation_failed || path.exists() {
            return;
        }
        if let Err(error) = allocate(&path, self.limits.reserve_bytes) {
            let _ = fs::remove_file(&path); // a partial reserve has no use
            self.allocation_failed = true;
            tracing::warn!(path = %path.display(), %error, "cannot reserve disk space for deletes");
        }
    }
}

fn allocate(path: &Path, bytes: u64) -> std::io::Result<()> {
    let file: File = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(path)?;
    Ok(fallocate(&file, FallocateFlags::empty(), 0, bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_follow_the_free_bytes() {
        let directory = tempfile::tempdir().unwrap();
        let limits = SpaceLimits { low_bytes: 100, exhausted_bytes: 40, reserve_bytes: 8 };
        let mut space = Space::new(directory.path(), limits);
        let mut check = |free: u64, expect: &str| {
            space.room = space.classify(free);
            let actual = format!("{:?}", space.room);
            assert!(actual.starts_with(expect), "{free}: {actual}");
        };
        check(100, "Enough");
        check(99, "Low");
        check(39, "Exhausted");
        check(40, "Low");
        check(132, "Low");
        check(133, "Enough");
        check(101, "Enough");
    }

    #[test]
    fn the_reserve_is_allocated_and_released() {
        let directory = tempfile::tempdir().unwrap();
        let limits = SpaceLimits { low_bytes: 0, exhausted_bytes: 0, reserve_bytes: 4096 };
        let mut space = Space::new(directory.path(), limits);
        space.check();
        assert_eq!(space.room(), &Room::Enough);
        let reserve = directory.path().join(RESERVE);
        assert_eq!(fs::metadata(&reserve).unwrap().len(), 4096);
        assert!(space.exhausted());
        assert!(!reserve.exists());
        assert!(!space.exhausted());
        space.checked_at = None;
        space.check();
        assert_eq!(space.room(), &Room::Enough);
        assert!(reserve.exists());
    }
}
