//! What a process has used, as the kernel counts it.

use std::time::Duration;

/// CPU time and memory of a process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// User and system time of all threads.
    pub cpu: Duration,
    /// Resident memory now and at its peak, in bytes.
    pub resident: u64,
    pub peak: u64,
}

/// Reads the usage of a process; nothing when there is no such process, or the kernel does not say.
pub fn usage(pid: u32) -> Option<Usage> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kilobytes = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    Some(Usage {
        cpu: cpu(pid)?,
        resident: kilobytes("VmRSS:").unwrap_or(0) * 1024,
        peak: kilobytes("VmHWM:").unwrap_or(0) * 1024,
    })
}

/// The sum over all threads of what the scheduler counted, which is exact; a thread that has ended is not in it.
fn cpu(pid: u32) -> Option<Duration> {
    let mut nanos = 0;
    for task in std::fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        let counted = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        nanos += counted.split(' ').next().and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    }
    Some(Duration::from_nanos(nanos))
}
