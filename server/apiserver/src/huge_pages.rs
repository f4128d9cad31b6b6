//! Disables transparent huge pages while the heap is small. Huge pages round each part of the heap
//! up to 2 MB. That is 50 % more memory for an empty server and little for a large one, where they
//! make writes cheaper.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Resident bytes from which on huge pages are enabled.
const LARGE: u64 = 128 << 20;
/// Interval at which a small process checks its size.
const INTERVAL: Duration = Duration::from_secs(2);

/// Whether this module disabled huge pages. The parent process, or the allocator's
/// `MIMALLOC_ALLOW_THP`, may have disabled them permanently.
static DISABLED_HERE: AtomicBool = AtomicBool::new(false);

/// Disables huge pages for now. Call it early: existing huge pages are not split.
pub fn disable() {
    if !are_disabled() {
        set_disabled(true);
        DISABLED_HERE.store(true, Ordering::Relaxed);
    }
}

/// Enables huge pages permanently once the process is large.
pub async fn enable_when_large() {
    if !DISABLED_HERE.load(Ordering::Relaxed) {
        return;
    }
    while resident().is_some_and(|bytes| bytes < LARGE) {
        tokio::time::sleep(INTERVAL).await;
    }
    set_disabled(false);
}

#[cfg(target_os = "linux")]
fn are_disabled() -> bool {
    rustix::thread::transparent_huge_pages_are_disabled().unwrap_or(true)
}

#[cfg(target_os = "linux")]
fn set_disabled(is_disabled: bool) {
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(is_disabled) {
        tracing::debug!(%error, is_disabled, "cannot change transparent huge pages");
    }
}

/// Only Linux has transparent huge pages.
#[cfg(not(target_os = "linux"))]
fn are_disabled() -> bool {
    true
}

#[cfg(not(target_os = "linux"))]
fn set_disabled(_: bool) {}

/// The resident memory of the process in bytes; `None` if the kernel does not report it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_resident_memory() {
        let before = resident().expect("resident memory");
        let held = vec![1u8; 64 << 20];
        assert!(resident().expect("resident memory") >= before + (held.len() as u64) / 2);
    }
}
