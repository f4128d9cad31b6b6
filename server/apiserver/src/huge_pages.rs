//! Small pages for a small heap. Transparent huge pages round what each part of it takes up to 2 MB, which is half as much again of an
//! empty server and next to nothing of a large one, whose writes they make cheaper.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Resident bytes from which on the process takes huge pages.
const LARGE: u64 = 128 << 20;
/// How often a small process looks whether it has become large.
const INTERVAL: Duration = Duration::from_secs(2);

/// Whether it is this module that refuses them: who started the program, or the allocator's `MIMALLOC_ALLOW_THP`, may do so for good.
static REFUSED_HERE: AtomicBool = AtomicBool::new(false);

/// Takes small pages only, for now. Call it before much is allocated: what has a huge page keeps it.
pub fn refuse() {
    if !are_refused() {
        set_refused(true);
        REFUSED_HERE.store(true, Ordering::Relaxed);
    }
}

/// Lets the process have huge pages once it is large, and for good.
pub async fn allow_when_large() {
    if !REFUSED_HERE.load(Ordering::Relaxed) {
        return;
    }
    while resident().is_some_and(|bytes| bytes < LARGE) {
        tokio::time::sleep(INTERVAL).await;
    }
    set_refused(false);
}

#[cfg(target_os = "linux")]
fn are_refused() -> bool {
    rustix::thread::transparent_huge_pages_are_disabled().unwrap_or(true)
}

#[cfg(target_os = "linux")]
fn set_refused(is_refused: bool) {
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(is_refused) {
        tracing::debug!(%error, is_refused, "the kernel keeps its huge pages as they are");
    }
}

/// Only Linux has them.
#[cfg(not(target_os = "linux"))]
fn are_refused() -> bool {
    true
}

#[cfg(not(target_os = "linux"))]
fn set_refused(_: bool) {}

/// How many bytes of memory the process takes; `None` where the kernel does not say.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_process_takes_is_known() {
        let before = resident().expect("the kernel says");
        let held = vec![1u8; 64 << 20];
        assert!(resident().expect("the kernel says") >= before + (held.len() as u64) / 2);
    }
}
