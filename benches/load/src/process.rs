//! Resource usage of a process, from the kernel.

use std::time::Duration;

use nix::time::{ClockId, clock_getcpuclockid};
use nix::unistd::Pid;

/// CPU time and memory of a process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// User and system time of all threads.
    pub cpu: Duration,
    /// Resident memory now and at its peak, in bytes.
    pub resident: u64,
    pub peak: u64,
}

/// Reads the usage of a process; `None` when there is no such process, or the kernel does not
/// report it.
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

/// Returns the CPU time of all threads, including ended ones.
fn cpu(pid: u32) -> Option<Duration> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?);
    let taken = clock_getcpuclockid(pid).and_then(ClockId::now).ok()?;
    Some(taken.into())
}
