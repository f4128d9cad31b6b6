//! Metrics of the process under the names common to all exporters.
//!
//! Those of the kernel are available on Linux only.

use std::time::{SystemTime, UNIX_EPOCH};

use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{Counter, Gauge};
use rustix::process::{Resource, getrlimit};

/// Clock ticks per second of the kernel's processor times in user space; the same on all platforms.
const TICKS_PER_SECOND: f64 = 100.0;

/// Reads a value, if the system provides it.
type Read = fn() -> Option<f64>;

const COUNTERS: [(&str, &str, Read); 3] = [
    ("process_cpu_seconds_total", "Processor time of the process, in seconds.", processor_seconds),
    ("process_network_receive_bytes_total", "Bytes received by the network namespace of the process.", || {
        octets("InOctets")
    }),
    ("process_network_transmit_bytes_total", "Bytes sent by the network namespace of the process.", || {
        octets("OutOctets")
    }),
];
const GAUGES: [(&str, &str, Read); 7] = [
    ("process_resident_memory_bytes", "Resident memory of the process, in bytes.", || memory("VmRSS:")),
    ("process_virtual_memory_bytes", "Virtual memory of the process, in bytes.", || memory("VmSize:")),
    ("process_virtual_memory_max_bytes", "Virtual memory limit of the process, in bytes.", || limit(Resource::As)),
    ("process_open_fds", "Number of open file descriptors.", open_files),
    ("process_max_fds", "Limit of open file descriptors.", || limit(Resource::Nofile)),
    // The unit of concurrency of this program is the task; dashboards use this name.
    ("go_goroutines", "Number of asynchronous tasks.", tasks),
    ("go_threads", "Number of threads of the process.", || status("Threads:")),
];

/// Reads `/proc/self` at each collection.
pub struct ProcessMetrics {
    counters: Vec<(Counter, Read)>,
    gauges: Vec<(Gauge, Read)>,
    started: Gauge,
}

impl ProcessMetrics {
    /// Creates the metrics; the current time is the start time.
    pub fn new() -> prometheus::Result<Self> {
        let started = Gauge::new("process_start_time_seconds", "Start time of the process, in seconds since 1970.")?;
        started.set(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64());
        let counters = COUNTERS.iter().map(|(name, help, read)| Ok((Counter::new(*name, *help)?, *read)));
        let gauges = GAUGES.iter().map(|(name, help, read)| Ok((Gauge::new(*name, *help)?, *read)));
        let counters = counters.collect::<prometheus::Result<_>>()?;
        Ok(ProcessMetrics { counters, gauges: gauges.collect::<prometheus::Result<_>>()?, started })
    }
}

impl Collector for ProcessMetrics {
    fn desc(&self) -> Vec<&Desc> {
        let counters = self.counters.iter().flat_map(|(counter, _)| counter.desc());
        let gauges = self.gauges.iter().flat_map(|(gauge, _)| gauge.desc());
        counters.chain(gauges).chain(self.started.desc()).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        for (counter, read) in &self.counters {
            if let Some(now) = read() {
                counter.inc_by((now - counter.get()).max(0.0));
            }
        }
        for (gauge, read) in &self.gauges {
            gauge.set(read().unwrap_or_default());
        }
        let counters = self.counters.iter().flat_map(|(counter, _)| counter.collect());
        let gauges = self.gauges.iter().flat_map(|(gauge, _)| gauge.collect());
        counters.chain(gauges).chain(self.started.collect()).collect()
    }
}

/// User and system time: fields 14 and 15 of `stat`. The name in parentheses may contain spaces.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    let ticks = rest.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok());
    Some(ticks.sum::<f64>() / TICKS_PER_SECOND)
}

fn status(field: &str) -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    line.split_whitespace().next()?.parse().ok()
}

fn memory(field: &str) -> Option<f64> {
    status(field).map(|kilobytes| kilobytes * 1024.0)
}

/// A counter of all connections in the network namespace of the process. Names are in one line,
/// values in the next.
fn octets(name: &str) -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/net/netstat").ok()?;
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("IpExt:"));
    let (names, values) = (lines.next()?.split_whitespace(), lines.next()?.split_whitespace());
    names.zip(values).find(|(known, _)| *known == name)?.1.parse().ok()
}

/// A limit of the process; the largest number if unlimited, as in other exporters.
fn limit(resource: Resource) -> Option<f64> {
    Some(getrlimit(resource).current.unwrap_or(u64::MAX) as f64)
}

/// The tasks of the current runtime.
fn tasks() -> Option<f64> {
    let runtime = tokio::runtime::Handle::try_current().ok()?;
    Some(runtime.metrics().num_alive_tasks() as f64)
}

fn open_files() -> Option<f64> {
    Some(std::fs::read_dir("/proc/self/fd").ok()?.count() as f64)
}
