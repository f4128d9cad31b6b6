//! The one signal that everything listens to when the server goes down.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

/// How far the shutdown is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Serving.
    Running,
    /// Asked to stop: `/readyz` fails, requests are still served (upstream: `ShutdownInitiated`).
    Initiated,
    /// No new connections; streams end, other requests finish (upstream: `NotAcceptingNewRequest`).
    Draining,
}

/// Where the server stands in its life. Clones share it.
#[derive(Clone, Debug)]
pub struct Shutdown(Arc<watch::Sender<Phase>>);

impl Default for Shutdown {
    fn default() -> Self {
        Shutdown(Arc::new(watch::Sender::new(Phase::Running)))
    }
}

impl Shutdown {
    /// The phase at this moment.
    pub fn phase(&self) -> Phase {
        *self.0.borrow()
    }

    /// Asks the server to stop. What a signal does; tests and embedders call it themselves.
    pub fn initiate(&self) {
        self.advance(Phase::Initiated);
    }

    /// Enters a later phase; never goes back.
    pub(crate) fn advance(&self, phase: Phase) {
        self.0.send_if_modified(|now| {
            let later = phase > *now;
            *now = phase.max(*now);
            later
        });
    }

    /// Waits until the server is in this phase or a later one.
    pub async fn reached(&self, phase: Phase) {
        // The sender lives as long as `self`, so waiting cannot fail.
        let _ = self.0.subscribe().wait_for(|now| *now >= phase).await;
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

    /// Lets `--shutdown-delay-duration` pass between asking and draining.
    pub(crate) async fn drain_after(&self, delay: Duration) {
        self.reached(Phase::Initiated).await;
        tokio::time::sleep(delay).await;
        self.advance(Phase::Draining);
    }
}
