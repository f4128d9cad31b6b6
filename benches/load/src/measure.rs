//! Runs operations in a closed or an open loop and reports their latencies.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::Common;
use crate::client::{Client, Server};
use crate::error::Result;
use crate::process::{Usage, usage};

/// The measurement of one operation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    pub latency: Duration,
    pub first_byte: Duration,
    pub bytes: usize,
}

/// The start of a measurement: the time, and the usage of the process.
pub struct Clock {
    began: Instant,
    before: Option<Usage>,
    pid: Option<u32>,
}

impl Clock {
    pub fn start(pid: Option<u32>) -> Self {
        Clock { before: pid.and_then(usage), pid, began: Instant::now() }
    }

    /// Prints the results since the start.
    pub fn report(&self, name: &str, samples: &mut [Sample]) {
        let took = self.began.elapsed();
        let after = self.pid.and_then(usage);
        samples.sort_unstable_by_key(|sample| sample.latency);
        let count = samples.len().max(1);
        println!(
            "{name}: {} operations in {:.2} s, {:.0}/s",
            samples.len(),
            took.as_secs_f64(),
            count as f64 / took.as_secs_f64()
        );
        println!("  latency    {}", percentiles(&samples.iter().map(|s| s.latency).collect::<Vec<_>>()));
        let mut first: Vec<Duration> = samples.iter().map(|sample| sample.first_byte).collect();
        first.sort_unstable();
        if first.last().is_some_and(|longest| !longest.is_zero()) {
            println!("  first byte {}", percentiles(&first));
        }
        let bytes: usize = samples.iter().map(|sample| sample.bytes).sum();
        if bytes > 0 {
            println!("  bytes      {:.0} each, {:.1} MB in all", bytes as f64 / count as f64, bytes as f64 / 1e6);
        }
        if let (Some(before), Some(after)) = (self.before, after) {
            let cpu = after.cpu.saturating_sub(before.cpu).as_secs_f64();
            println!(
                "  server     {cpu:.3} s CPU, {:.4} ms each; resident {:.1} MB, before {:.1} MB, peak {:.1} MB",
                cpu * 1e3 / count as f64,
                megabytes(after.resident),
                megabytes(before.resident),
                megabytes(after.peak)
            );
        }
    }
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn percentiles(sorted: &[Duration]) -> String {
    let at = |share: f64| {
        let index = ((sorted.len() as f64 * share) as usize).min(sorted.len().saturating_sub(1));
        sorted.get(index).map_or(0.0, |latency| latency.as_secs_f64() * 1e3)
    };
    format!("p50 {:.3} ms, p90 {:.3} ms, p99 {:.3} ms, max {:.3} ms", at(0.5), at(0.9), at(0.99), at(1.0))
}

/// Runs `--operations` operations with `--clients` clients, each on a separate connection;
/// `operation` gets the number of each.
pub async fn run<F, R>(name: &str, server: Arc<Server>, common: &Common, operation: F) -> Result<()>
where
    F: Fn(Client, usize) -> R + Clone + Send + 'static,
    R: Future<Output = Result<Sample>> + Send + 'static,
{
    let mut clients = Vec::new();
    for _ in 0..common.clients.max(1) {
        clients.push(server.connect().await?);
    }
    let clock = Clock::start(common.pid);
    let mut samples = if common.rate > 0.0 {
        open_loop(clients, common, operation).await?
    } else {
        closed_loop(clients, common.operations, operation).await?
    };
    clock.report(name, &mut samples);
    Ok(())
}

async fn closed_loop<F, R>(clients: Vec<Client>, operations: usize, operation: F) -> Result<Vec<Sample>>
where
    F: Fn(Client, usize) -> R + Clone + Send + 'static,
    R: Future<Output = Result<Sample>> + Send + 'static,
{
    let next = Arc::new(AtomicUsize::new(0));
    let workers = clients.into_iter().map(|client| {
        let (next, operation) = (next.clone(), operation.clone());
        tokio::spawn(async move {
            let mut samples = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= operations {
                    return Ok(samples);
                }
                samples.push(operation(client.clone(), number).await?);
            }
        })
    });
    gather(workers.collect()).await
}

/// Measures the latency from the scheduled time of an operation, so that a slow server is visible.
async fn open_loop<F, R>(clients: Vec<Client>, common: &Common, operation: F) -> Result<Vec<Sample>>
where
    F: Fn(Client, usize) -> R + Clone + Send + 'static,
    R: Future<Output = Result<Sample>> + Send + 'static,
{
    let began = tokio::time::Instant::now();
    let mut workers = Vec::new();
    for number in 0..common.operations {
        let due = began + Duration::from_secs_f64(number as f64 / common.rate);
        tokio::time::sleep_until(due).await;
        let (client, operation) = (clients[number % clients.len()].clone(), operation.clone());
        workers.push(tokio::spawn(async move {
            let sample = operation(client, number).await?;
            Ok(vec![Sample { latency: due.elapsed(), ..sample }])
        }));
    }
    gather(workers).await
}

async fn gather(workers: Vec<tokio::task::JoinHandle<Result<Vec<Sample>>>>) -> Result<Vec<Sample>> {
    let mut all = Vec::new();
    for worker in workers {
        all.extend(worker.await.map_err(|e| crate::error::Error::Other(e.to_string()))??);
    }
    Ok(all)
}
