//! The one signal that everything listens to when the server goes down.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// How far the shutdown is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Serving.
    Running,
    /// Asked to stop: `/readyz` fails, requests are still served (upstream: `ShutdownInitiated`).
    Initiated,
    /// The delay has passed: watches end, and with `--shutdown-send-retry-after` new requests are answered with the advice to try again
    /// (upstream: `NotAcceptingNewRequest`).
    Refusing,
    /// No new connections; those that there are end with their requests (upstream: `HTTPServerStoppedListening`).
    Draining,
}

/// Where the server stands in its life. Clones share it.
#[derive(Clone, Debug)]
pub struct Shutdown {
    phase: Arc<watch::Sender<Phase>>,
    /// Has a place for each request that may be under way.
    under_way: Arc<Semaphore>,
}

/// More requests than there can be at a time.
const MOST_REQUESTS: u32 = 1 << 28;

impl Default for Shutdown {
    fn default() -> Self {
        let under_way = Arc::new(Semaphore::new(MOST_REQUESTS as usize));
        Shutdown { phase: Arc::new(watch::Sender::new(Phase::Running)), under_way }
    }
}

impl Shutdown {
    /// The phase at this moment.
    pub fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    /// Tells of each phase from now on.
    pub(crate) fn phases(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }

    /// Asks the server to stop. What a signal does; tests and embedders call it themselves.
    pub fn initiate(&self) {
        self.advance(Phase::Initiated);
    }

    /// Enters a later phase; never goes back.
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

    /// Initiates the shutdown on SIGTERM or SIGINT; a second signal ends the process at once, as upstream's does.
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

    /// Counts a request as under way until the result is dropped, or anything else that has to be done before the server closes its port.
    pub fn enter(&self) -> Option<OwnedSemaphorePermit> {
        self.under_way.clone().try_acquire_owned().ok()
    }

    /// Goes through the phases once it is initiated: lets `delay` pass before requests are refused, and then the requests that were entered
    /// end, for at most `patience`, before the server drains.
    pub(crate) async fn drain_after(&self, delay: Duration, patience: Duration) {
        self.reached(Phase::Initiated).await;
        tokio::time::sleep(delay).await;
        self.advance(Phase::Refusing);
        if tokio::time::timeout(patience, self.under_way.acquire_many(MOST_REQUESTS)).await.is_err() {
            tracing::warn!("requests were still under way when the server closed its port");
        }
        self.advance(Phase::Draining);
    }
}
