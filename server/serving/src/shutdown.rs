//! The shutdown signal of the server.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// The phase of the shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Serving.
    Running,
    /// Shutdown initiated: `/readyz` fails, requests are still served (upstream:
    /// `ShutdownInitiated`).
    Initiated,
    /// The delay has passed: watches end, and with `--shutdown-send-retry-after` new requests get a
    /// 429 response (upstream: `NotAcceptingNewRequest`).
    Refusing,
    /// No new connections; the open ones end with their requests (upstream:
    /// `HTTPServerStoppedListening`).
    Draining,
}

/// The shutdown phase of the server. Clones share it.
#[derive(Clone, Debug)]
pub struct Shutdown {
    phase: Arc<watch::Sender<Phase>>,
    /// A permit for each request in flight.
    in_flight: Arc<Semaphore>,
}

/// More requests than can be in flight.
const MAX_REQUESTS: u32 = 1 << 28;

impl Default for Shutdown {
    fn default() -> Self {
        let in_flight = Arc::new(Semaphore::new(MAX_REQUESTS as usize));
        Shutdown { phase: Arc::new(watch::Sender::new(Phase::Running)), in_flight }
    }
}

impl Shutdown {
    /// The current phase.
    pub fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    /// A receiver of the phase changes.
    pub(crate) fn phases(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }

    /// Initiates the shutdown, as a signal does; tests and embedders call it.
    pub fn initiate(&self) {
        self.advance(Phase::Initiated);
    }

    /// Advances to a later phase; never goes back.
    pub(crate) fn advance(&self, phase: Phase) {
        self.phase.send_if_modified(|now| {
            let later = phase > *now;
            *now = phase.max(*now);
            later
        });
    }

    /// Waits until the server is in this phase or a later one.
    pub async fn reached(&self, phase: Phase) {
        // The sender lives as long as `self`, so waiting cannot fail.
        let _ = self.phase.subscribe().wait_for(|now| *now >= phase).await;
    }

    /// Initiates the shutdown on SIGTERM or SIGINT; a second signal ends the process at once, as
    /// upstream.
    ///
    /// # Errors
    /// The handlers of the signals cannot be installed.
    pub fn on_signals(&self) -> std::io::Result<()> {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let shutdown = self.clone();
        tokio::spawn(async move {
            for round in 0.. {
                tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
                if round > 0 {
                    std::process::exit(1);
                }
                tracing::info!("shutting down");
                shutdown.initiate();
            }
        });
        Ok(())
    }

    /// Counts a request, or other work before the port closes, as in flight until the result is
    /// dropped.
    pub fn enter(&self) -> Option<OwnedSemaphorePermit> {
        self.in_flight.clone().try_acquire_owned().ok()
    }

    /// Advances through the phases once the shutdown is initiated. After `delay`, new requests are
    /// refused; then requests in flight get at most `patience` to complete before draining.
    pub(crate) async fn drain_after(&self, delay: Duration, patience: Duration) {
        self.reached(Phase::Initiated).await;
        tokio::time::sleep(delay).await;
        self.advance(Phase::Refusing);
        if tokio::time::timeout(patience, self.in_flight.acquire_many(MAX_REQUESTS)).await.is_err() {
            tracing::warn!("requests still in flight; closing the port");
        }
        self.advance(Phase::Draining);
    }
}
