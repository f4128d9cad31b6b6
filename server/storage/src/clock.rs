//! The wall clock. Leases and snapshots outlive the process, so their times do too.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns milliseconds since 1970.
pub(crate) fn unix_millis() -> u64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}
