//! The room on the disk of the store: how much is free, and a reserve file that is given up when nothing is left, so that deletes and
//! compactions still work.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, fallocate, statvfs};

use super::condition::Room;

/// The file whose blocks are kept for deletes.
pub(super) const RESERVE: &str = "reserve";
/// How often the disk is looked at while writes come, and while there is little room.
const PERIOD: Duration = Duration::from_millis(250);
/// How often it is looked at when nothing happens.
pub(super) const IDLE_PERIOD: Duration = Duration::from_secs(5);

/// From when on a disk counts as nearly full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceLimits {
    /// Below so many free bytes, creates and updates that make an object larger are refused.
    pub low_bytes: u64,
    /// Below so many free bytes, everything but deletes is refused.
    pub exhausted_bytes: u64,
    /// How many bytes the reserve file takes; 0 for none.
    pub reserve_bytes: u64,
}

impl Default for SpaceLimits {
    fn default() -> Self {
        Self { low_bytes: 64 << 20, exhausted_bytes: 24 << 20, reserve_bytes: 8 << 20 }
    }
}

/// Looks at the disk of one directory.
pub(super) struct Space {
    directory: PathBuf,
    limits: SpaceLimits,
    room: Room,
    looked: Option<Instant>,
    /// Whether the reserve could not be made; it is tried again when room has been short.
    gave_up: bool,
}

impl Space {
    pub(super) fn new(directory: &Path, limits: SpaceLimits) -> Self {
        Self { directory: directory.to_owned(), limits, room: Room::Enough, looked: None, gave_up: false }
    }

    pub(super) fn room(&self) -> &Room {
        &self.room
    }

    /// When the disk should be looked at again.
    pub(super) fn next_look(&self) -> Instant {
        let period = if self.room == Room::Enough { IDLE_PERIOD } else { PERIOD };
        self.looked.map_or_else(Instant::now, |looked| looked + period)
    }

    /// Looks at the disk, unless it was looked at a moment ago.
    pub(super) fn look(&mut self) {
        let now = Instant::now();
        if self.looked.is_some_and(|looked| now < looked + PERIOD) {
            return;
        }
        self.looked = Some(now);
        // A file system that does not say how much is free says so when a write fails.
        if let Ok(found) = statvfs(&self.directory) {
            self.room = self.judge(found.f_bavail.saturating_mul(found.f_frsize));
        }
        match self.room {
            Room::Enough => self.keep_reserve(),
            _ => self.gave_up = false,
        }
    }

    fn judge(&self, free: u64) -> Room {
        let SpaceLimits { low_bytes, exhausted_bytes, reserve_bytes } = self.limits;
        // Where room was short, there has to be more than just enough: the reserve is made again, and states must not alternate.
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

    /// A write found the disk full: the reserve is given up. False when that was known, and there is no reserve.
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
        self.looked = Some(Instant::now());
        self.room = Room::Exhausted("the disk is full".into());
        is_released || !was_known
    }

    /// Makes the reserve file where there is none.
    fn keep_reserve(&mut self) {
        let path = self.directory.join(RESERVE);
        if self.limits.reserve_bytes == 0 || self.gave_up || path.exists() {
            return;
        }
        if let Err(error) = allocate(&path, self.limits.reserve_bytes) {
            let _ = fs::remove_file(&path); // a part of it is no use
            self.gave_up = true;
            tracing::warn!(path = %path.display(), %error, "no room can be reserved for deletes on a full disk");
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
            space.room = space.judge(free);
            let said = format!("{:?}", space.room);
            assert!(said.starts_with(expect), "{free}: {said}");
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
    fn the_reserve_is_made_and_released() {
        let directory = tempfile::tempdir().unwrap();
        let limits = SpaceLimits { low_bytes: 0, exhausted_bytes: 0, reserve_bytes: 4096 };
        let mut space = Space::new(directory.path(), limits);
        space.look();
        assert_eq!(space.room(), &Room::Enough);
        let reserve = directory.path().join(RESERVE);
        assert_eq!(fs::metadata(&reserve).unwrap().len(), 4096);
        assert!(space.exhausted());
        assert!(!reserve.exists());
        assert!(!space.exhausted());
        space.looked = None;
        space.look();
        assert_eq!(space.room(), &Room::Enough);
        assert!(reserve.exists());
    }
}
