//! Processor time and peak memory of a process.

use std::fs;

/// Units of `/proc/PID/stat` in a second (`USER_HZ`, which Linux never changes).
const TICKS: u64 = 100;

pub struct Meter {
    process: u32,
}

/// What a process had used at a moment.
pub struct Mark {
    milliseconds: u64,
    resident: u64,
}

/// What was used between two moments.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Of processor time.
    pub milliseconds: u64,
    /// The peak of resident memory over what it was before, in bytes.
    pub memory: u64,
}

impl Cost {
    pub fn least(self, other: Cost) -> Cost {
        Cost { milliseconds: self.milliseconds.min(other.milliseconds), memory: self.memory.min(other.memory) }
    }
}

impl Meter {
    pub fn of(process: u32) -> Meter {
        Meter { process }
    }

    /// Begins a measurement; the peak of memory begins anew.
    pub fn begin(&self) -> Mark {
        fs::write(format!("/proc/{}/clear_refs", self.process), "5").unwrap();
        Mark { milliseconds: self.milliseconds(), resident: self.memory("VmRSS:") }
    }

    pub fn cost_since(&self, mark: Mark) -> Cost {
        Cost {
            milliseconds: self.milliseconds() - mark.milliseconds,
            memory: self.memory("VmHWM:").saturating_sub(mark.resident),
        }
    }

    /// Processor time of all threads, those that have ended included.
    fn milliseconds(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process)).unwrap();
        // The name of the program may contain spaces; what follows it does not.
        let fields: Vec<&str> = stat[stat.rfind(')').unwrap() + 2..].split(' ').collect();
        let ticks = |index: usize| fields[index].parse::<u64>().unwrap();
        (ticks(11) + ticks(12)) * 1000 / TICKS
    }

    fn memory(&self, field: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process)).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }
}
