//! Exports spans in batches from a separate task; recording a span never waits (OpenTelemetry:
//! `BatchSpanProcessor`).

use std::time::Duration;

use grpc::Client;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::messages::{
    ExportTraceServiceRequest, ExportTraceServiceResponse, KeyValue, Resource, ResourceSpans, ScopeSpans, Span,
};
use crate::Error;

const PATH: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
const SERVICE: &str = "apiserver";
/// The maximum number of queued spans; further ones are dropped.
const QUEUE_LENGTH: usize = 2048;
/// The maximum size of a batch, and the export interval.
const BATCH: usize = 512;
const DELAY: Duration = Duration::from_secs(5);
/// The timeout of an export.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(30);

/// The sending side of the export queue.
#[derive(Clone)]
pub(super) struct Exporter(mpsc::Sender<Message>);

enum Message {
    Span(Box<Span>),
    /// Requests the export of all queued spans.
    Flush(oneshot::Sender<()>),
}

impl Exporter {
    /// Starts the export to a collector, which need not be reachable yet.
    ///
    /// # Errors
    /// The address of the collector is malformed.
    pub(super) fn start(collector: &str, instance: &str) -> Result<Self, Error> {
        let collector = Client::new(collector, None)
            .map_err(|why| Error::Collector { collector: collector.to_owned(), source: why.into() })?;
        let attributes = vec![KeyValue::text("service.name", SERVICE), KeyValue::text("service.instance.id", instance)];
        let (sender, receiver) = mpsc::channel(QUEUE_LENGTH);
        let task = ExportTask { collector, resource: Resource { attributes }, batch: Vec::new() };
        tokio::spawn(task.run(receiver));
        Ok(Exporter(sender))
    }

    /// Queues a span; drops it if the queue is full.
    pub(super) fn send(&self, span: Span) {
        let _ = self.0.try_send(Message::Span(Box::new(span)));
    }

    /// Waits until all queued spans are exported.
    pub(super) async fn close(&self) {
        let (done, sent) = oneshot::channel();
        if self.0.send(Message::Flush(done)).await.is_ok() {
            let _ = sent.await;
        }
    }
}

/// The exporting task.
struct ExportTask {
    collector: Client,
    resource: Resource,
    batch: Vec<Span>,
}

impl ExportTask {
    async fn run(mut self, mut receiver: mpsc::Receiver<Message>) {
        let mut ticks = interval(DELAY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                message = receiver.recv() => match message {
                    Some(Message::Span(span)) => {
                        self.batch.push(*span);
                        if self.batch.len() >= BATCH {
                            self.flush().await;
                        }
                    }
                    Some(Message::Flush(done)) => {
                        self.flush().await;
                        let _ = done.send(());
                    }
                    None => return self.flush().await,
                },
                _ = ticks.tick() => self.flush().await,
            }
        }
    }

    async fn flush(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let scope_spans = vec![ScopeSpans { spans: std::mem::take(&mut self.batch) }];
        let message = ExportTraceServiceRequest {
            resource_spans: vec![ResourceSpans { resource: Some(self.resource.clone()), scope_spans }],
        };
        match timeout(
            EXPORT_TIMEOUT,
            self.collector.call::<ExportTraceServiceRequest, ExportTraceServiceResponse>(PATH, message),
        )
        .await
        {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::warn!(error = error.message(), "traces export"),
            Err(_) => tracing::warn!("traces export: timeout"),
        }
    }
}
