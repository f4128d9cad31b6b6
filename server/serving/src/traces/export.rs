//! Sending spans to the collector, in batches, behind everybody's back: who makes a span never waits (OpenTelemetry: `BatchSpanProcessor`).

use std::time::Duration;

use grpc::Client;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::messages::{
    ExportTraceServiceRequest, ExportTraceServiceResponse, KeyValue, Resource, ResourceSpans, ScopeSpans, Span,
};

const PATH: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
const SERVICE: &str = "apiserver";
/// Spans that may wait; further ones are lost.
const WAITING: usize = 2048;
/// Spans of a batch, and how long it waits to be full.
const BATCH: usize = 512;
const DELAY: Duration = Duration::from_secs(5);
/// How long a batch may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where spans are handed in.
#[derive(Clone)]
pub(super) struct Exporter(mpsc::Sender<Handed>);

enum Handed {
    Span(Box<Span>),
    /// Everything that was handed in before is to be sent.
    Flush(oneshot::Sender<()>),
}

impl Exporter {
    /// Begins to send to this address, which need not be there yet.
    pub(super) fn start(collector: &str, instance: &str) -> Result<Self, String> {
        let collector = Client::new(collector, None).map_err(|why| format!("{collector}: {why}"))?;
        let attributes = vec![KeyValue::text("service.name", SERVICE), KeyValue::text("service.instance.id", instance)];
        let (sender, receiver) = mpsc::channel(WAITING);
        let sending = Sending { collector, resource: Resource { attributes }, batch: Vec::new() };
        tokio::spawn(sending.run(receiver));
        Ok(Exporter(sender))
    }

    /// Hands a span in, or loses it when too many wait.
    pub(super) fn send(&self, span: Span) {
        let _ = self.0.try_send(Handed::Span(Box::new(span)));
    }

    /// Waits until everything has been sent that was handed in.
    pub(super) async fn close(&self) {
        let (done, sent) = oneshot::channel();
        if self.0.send(Handed::Flush(done)).await.is_ok() {
            let _ = sent.await;
        }
    }
}

/// The task that sends.
struct Sending {
    collector: Client,
    resource: Resource,
    batch: Vec<Span>,
}

impl Sending {
    async fn run(mut self, mut receiver: mpsc::Receiver<Handed>) {
        let mut ticks = interval(DELAY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                handed = receiver.recv() => match handed {
                    Some(Handed::Span(span)) => {
                        self.batch.push(*span);
                        if self.batch.len() >= BATCH {
                            self.flush().await;
                        }
                    }
                    Some(Handed::Flush(done)) => {
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
            PATIENCE,
            self.collector.call::<ExportTraceServiceRequest, ExportTraceServiceResponse>(PATH, message),
        )
        .await
        {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::warn!(error = error.message(), "traces export"),
            Err(_) => tracing::warn!("traces export: the collector does not answer"),
        }
    }
}
