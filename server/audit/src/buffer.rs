//! A sink that forwards events asynchronously in batches (upstream: `plugin/audit/buffered`).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use apimachinery::audit::v1::Event;
use options::AuditBatch;
use request::BoxFuture;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

use crate::sink::{Metrics, Sink};

const PLUGIN: &str = "buffered";

/// Queues events until a batch is full or the maximum wait has elapsed. Events are lost if the queue is full.
pub(super) struct Buffer {
    queue: mpsc::Sender<Arc<Event>>,
    worker: Mutex<Option<Worker>>,
    metrics: Metrics,
}

/// The task that forwards batches, and the signal that stops the task.
struct Worker {
    task: JoinHandle<()>,
    end: oneshot::Sender<()>,
}

/// The state of the task that forwards batches.
struct BatchProcessor<S> {
    queue: mpsc::Receiver<Arc<Event>>,
    end: oneshot::Receiver<()>,
    options: AuditBatch,
    throttle: Option<Throttle>,
    inner: Arc<S>,
    in_flight: JoinSet<()>,
}

impl Buffer {
    /// Starts the task that forwards batches. Needs a tokio runtime.
    pub fn start(inner: impl Sink + 'static, options: &AuditBatch, metrics: Metrics) -> Self {
        let (queue, events) = mpsc::channel(options.buffer);
        let (end, ended) = oneshot::channel();
        let processor = BatchProcessor {
            queue: events,
            end: ended,
            throttle: options.throttle.map(|(per_second, burst)| Throttle::new(per_second, burst)),
            options: options.clone(),
            inner: Arc::new(inner),
            in_flight: JoinSet::new(),
        };
        let task = tokio::spawn(processor.run());
        Buffer { queue, worker: Mutex::new(Some(Worker { task, end })), metrics }
    }
}

impl Sink for Buffer {
    fn process<'a>(&'a self, events: &'a [Arc<Event>]) -> BoxFuture<'a, bool> {
        for (i, event) in events.iter().enumerate() {
            let why = match self.queue.try_send(event.clone()) {
                Ok(()) => continue,
                Err(TrySendError::Full(_)) => "audit buffer queue blocked",
                Err(TrySendError::Closed(_)) => "audit backend shut down",
            };
            self.metrics.lost(PLUGIN, why, &events[i..]);
            break;
        }
        Box::pin(std::future::ready(true))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner).take();
        Box::pin(async move {
            let Some(Worker { task, end }) = worker else { return };
            let _ = end.send(());
            let _ = task.await;
        })
    }
}

impl<S: Sink + 'static> BatchProcessor<S> {
    async fn run(mut self) {
        loop {
            let (batch, ended) = self.collect().await;
            if !batch.is_empty() {
                self.forward(batch).await;
            }
            if ended {
                break;
            }
        }
        while self.in_flight.join_next().await.is_some() {}
        self.inner.close().await;
    }

    /// Collects the next batch. Returns the batch and whether it is the last one.
    async fn collect(&mut self) -> (Vec<Arc<Event>>, bool) {
        let mut batch = Vec::new();
        let time = tokio::time::sleep(self.options.max_wait);
        tokio::pin!(time);
        while batch.len() < self.options.max_events {
            tokio::select! {
                event = self.queue.recv() => match event {
                    Some(event) => batch.push(event),
                    None => return (batch, true),
                },
                // Batches of one event are forwarded without delay.
                () = &mut time, if self.options.max_events > 1 => break,
                // `recv` still returns the events that are queued.
                _ = &mut self.end, if !self.queue.is_closed() => self.queue.close(),
            }
        }
        (batch, false)
    }

    async fn forward(&mut self, batch: Vec<Arc<Event>>) {
        if let Some(throttle) = &mut self.throttle {
            throttle.wait().await;
        }
        if !self.options.concurrent {
            self.inner.process(&batch).await;
            return;
        }
        while self.in_flight.try_join_next().is_some() {}
        let inner = self.inner.clone();
        self.in_flight.spawn(async move {
            inner.process(&batch).await;
        });
    }
}

/// A rate limiter with bursts (upstream: `flowcontrol.NewTokenBucketRateLimiter`).
struct Throttle {
    /// The interval between two batches.
    interval: Duration,
    /// How far ahead of `due` a batch may be sent.
    slack: Duration,
    /// When the next batch is due at the constant rate.
    due: Instant,
}

impl Throttle {
    fn new(per_second: f64, burst: u32) -> Self {
        let interval = Duration::from_secs_f64(1.0 / per_second);
        Throttle { interval, slack: interval * burst.saturating_sub(1), due: Instant::now() }
    }

    async fn wait(&mut self) {
        let now = Instant::now();
        let due = self.due.max(now);
        self.due = due + self.interval;
        if let Some(until) = due.checked_sub(self.slack).filter(|until| *until > now) {
            tokio::time::sleep_until(until).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn allows_burst() {
        let begin = Instant::now();
        let mut throttle = Throttle::new(10.0, 3);
        let mut at = Vec::new();
        for _ in 0..5 {
            throttle.wait().await;
            at.push(begin.elapsed().as_millis());
        }
        assert_eq!(at, [0, 0, 0, 100, 200]);
    }
}
