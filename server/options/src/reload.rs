//! Reloads configuration files on changes, with metrics (upstream: `util/filesystem.WatchUntil`).

use std::fmt::Display;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prometheus::{GaugeVec, IntCounterVec, Opts, Registry};

use crate::identity;

/// The polling interval.
const INTERVAL: Duration = Duration::from_secs(1);

/// The metrics of one configuration file.
pub struct Reloads {
    total: IntCounterVec,
    last: GaugeVec,
    /// The hash of the server's identity.
    server: String,
}

impl Reloads {
    /// Creates the metrics and registers them; `of` is `authentication` or `authorization`, and
    /// `hostname` that of the server.
    pub fn register(registry: &Registry, of: &str, hostname: &str) -> Self {
        let name = |what: &str| format!("apiserver_{of}_config_controller_{what}");
        let total =
            Opts::new(name("automatic_reloads_total"), "Number of reloads of the configuration file, by outcome.");
        let last = Opts::new(
            name("automatic_reload_last_timestamp_seconds"),
            "Time of the last reload of the configuration file, in seconds since 1970.",
        );
        let reloads = Reloads {
            total: IntCounterVec::new(total, &["status", "apiserver_id_hash"]).expect("a well-formed metric"),
            last: GaugeVec::new(last, &["status", "apiserver_id_hash"]).expect("a well-formed metric"),
            server: identity::hash(&identity::of_host(hostname)),
        };
        // Registration fails only for duplicate names, and a server has one file of each kind.
        let _ = registry.register(Box::new(reloads.total.clone()));
        let _ = registry.register(Box::new(reloads.last.clone()));
        reloads
    }

    fn count(&self, status: &str) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        self.total.with_label_values(&[status, &self.server]).inc();
        self.last.with_label_values(&[status, &self.server]).set(now);
    }
}

/// Calls `apply` with the content of a file each time it differs from the previous content,
/// initially `content`.
///
/// An error is logged, and the previous configuration stays in effect.
pub fn follow<E: Display>(
    path: PathBuf,
    mut content: Vec<u8>,
    reloads: Reloads,
    apply: impl Fn(&[u8]) -> Result<(), E> + Send + 'static,
) {
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(INTERVAL).await;
            // A file that is being replaced will exist at the next attempt.
            let Ok(text) = tokio::fs::read(&path).await else { continue };
            if text == content {
                continue;
            }
            let outcome = apply(&text);
            match &outcome {
                Ok(()) => tracing::info!(path = %path.display(), "reloaded the configuration"),
                Err(why) => {
                    tracing::error!(path = %path.display(), %why, "invalid configuration; keeping the previous one")
                }
            }
            reloads.count(if outcome.is_ok() { "success" } else { "failure" });
            content = text;
        }
    });
}
