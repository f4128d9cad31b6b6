//! Processor time and peak memory of a process.

use std::collections::HashMap;
use std::fmt;
use std::fs;

pub struct Meter {
    process: u32,
}

/// The usage of a process at one moment.
pub struct Mark {
    /// Processor time of each thread in nanoseconds.
    threads: HashMap<u32, u64>,
    resident: u64,
}

impl Mark {
    /// Returns the processor time of the threads since the process started.
    pub fn microseconds(&self) -> u64 {
        self.threads.values().sum::<u64>() / 1000
    }
}

/// The usage between two moments.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Processor time.
    pub microseconds: u64,
    /// The peak of resident memory above the memory before, in bytes.
    pub memory: u64,
}

impl Cost {
    pub const MOST: Cost = Cost { microseconds: u64::MAX, memory: u64::MAX };

    pub fn least(self, other: Cost) -> Cost {
        Cost { microseconds: self.microseconds.min(other.microseconds), memory: self.memory.min(other.memory) }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms {} MiB", self.microseconds / 1000, self.memory >> 20)
    }
}

impl Meter {
    pub fn of(process: u32) -> Meter {
        Meter { process }
    }

    /// Begins a measurement and resets the peak of memory.
    pub fn begin(&self) -> Mark {
        fs::write(format!("/proc/{}/clear_refs", self.process), "5").unwrap();
        Mark { threads: self.threads(), resident: self.memory("VmRSS:") }
    }

    /// Returns the usage since `mark`. A thread that has ended since then does not count.
    pub fn cost_since(&self, mark: &Mark) -> Cost {
        let used = |(thread, now): (u32, u64)| now - mark.threads.get(&thread).copied().unwrap_or(0).min(now);
        Cost {
            microseconds: self.threads().into_iter().map(used).sum::<u64>() / 1000,
            memory: self.memory("VmHWM:").saturating_sub(mark.resident),
        }
    }

    /// Reads the processor time of the threads. `/proc/PID/stat` counts in steps of 10 ms, which is
    /// too coarse.
    fn threads(&self) -> HashMap<u32, u64> {
        let threads = fs::read_dir(format!("/proc/{}/task", self.process)).unwrap();
        let nanoseconds = |thread: fs::DirEntry| {
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            Some((thread.file_name().to_str()?.parse().ok()?, text.split(' ').next()?.parse().ok()?))
        };
        threads.filter_map(Result::ok).filter_map(nanoseconds).collect()
    }

    fn memory(&self, field: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process)).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }
}
