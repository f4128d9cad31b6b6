//! Processor time and peak memory of a process.

use std::fmt;
use std::fs;

pub struct Meter {
    process: u32,
}

/// What a process had used at a moment.
pub struct Mark {
    microseconds: u64,
    resident: u64,
}

impl Mark {
    /// Processor time since the process started.
    pub fn microseconds(&self) -> u64 {
        self.microseconds
    }
}

/// What was used between two moments.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Of processor time.
    pub microseconds: u64,
    /// The peak of resident memory over what it was before, in bytes.
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
        Mark { microseconds: self.microseconds(), resident: self.memory("VmRSS:") }
    }

    pub fn cost_since(&self, mark: &Mark) -> Cost {
        Cost {
            // The time of a thread that has ended is missing.
            microseconds: self.microseconds().saturating_sub(mark.microseconds),
            memory: self.memory("VmHWM:").saturating_sub(mark.resident),
        }
    }

    /// Processor time of the threads. `/proc/PID/stat` counts in steps of 10 ms, which is too coarse.
    fn microseconds(&self) -> u64 {
        let threads = fs::read_dir(format!("/proc/{}/task", self.process)).unwrap();
        let nanoseconds = |thread: fs::DirEntry| {
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<u64>().ok()
        };
        threads.filter_map(Result::ok).filter_map(nanoseconds).sum::<u64>() / 1000
    }

    fn memory(&self, field: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process)).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }
}
