//! What the kernel counts of this process, under the names that all exporters use. Linux only; elsewhere nothing is said.

use std::time::{SystemTime, UNIX_EPOCH};

use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{Counter, Gauge};

/// Clock ticks of a second, in which the kernel counts processor time for user space; it is the same everywhere.
const TICKS_PER_SECOND: f64 = 100.0;

/// A gauge, and what it shows if the system says.
type Read = (Gauge, fn() -> Option<f64>);

/// Reads `/proc/self` whenever somebody asks.
pub struct ProcessMetrics {
    cpu: Counter,
    gauges: [Read; 3],
    started: Gauge,
}

impl ProcessMetrics {
    /// The process counts as started now.
    pub fn new() -> prometheus::Result<Self> {
        let started = Gauge::new("process_start_time_seconds", "When the process began, in seconds since 1970.")?;
        started.set(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64());
        Ok(ProcessMetrics {
            cpu: Counter::new("process_cpu_seconds_total", "Processor time of the process, in seconds.")?,
            gauges: [
                (Gauge::new("process_resident_memory_bytes", "Resident memory of the process.")?, || memory("VmRSS:")),
                (Gauge::new("process_virtual_memory_bytes", "Virtual memory of the process.")?, || memory("VmSize:")),
                (Gauge::new("process_open_fds", "Open files of the process.")?, open_files),
            ],
            started,
        })
    }
}

impl Collector for ProcessMetrics {
    fn desc(&self) -> Vec<&Desc> {
        let gauges = self.gauges.iter().flat_map(|(gauge, _)| gauge.desc());
        self.cpu.desc().into_iter().chain(gauges).chain(self.started.desc()).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        if let Some(seconds) = processor_seconds() {
            self.cpu.inc_by((seconds - self.cpu.get()).max(0.0));
        }
        for (gauge, read) in &self.gauges {
            gauge.set(read().unwrap_or_default());
        }
        let gauges = self.gauges.iter().flat_map(|(gauge, _)| gauge.collect());
        self.cpu.collect().into_iter().chain(gauges).chain(self.started.collect()).collect()
    }
}

/// User and system time, which stand at places 14 and 15, counted from behind the name in parentheses.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    let ticks = rest.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok());
    Some(ticks.sum::<f64>() / TICKS_PER_SECOND)
}

fn memory(field: &str) -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    Some(line.split_whitespace().next()?.parse::<f64>().ok()? * 1024.0)
}

fn open_files() -> Option<f64> {
    Some(std::fs::read_dir("/proc/self/fd").ok()?.count() as f64)
}
