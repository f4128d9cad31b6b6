//! Files that are read again when they change, and the metrics about that (upstream: `util/filesystem.WatchUntil`).

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prometheus::{GaugeVec, IntCounterVec, Opts, Registry};

use crate::identity;

/// How often a file is looked at.
const EVERY: Duration = Duration::from_secs(1);

/// The metrics about one configuration file.
pub(crate) struct Reloads {
    total: IntCounterVec,
    last: GaugeVec,
    /// The hash of the server's identity.
    server: String,
}

impl Reloads {
    /// Makes and registers them; `of` is `authentication` or `authorization`, and `hostname` that of the server.
    pub fn register(registry: &Registry, of: &str, hostname: &str) -> Self {
        let name = |what: &str| format!("apiserver_{of}_config_controller_{what}");
        let total =
            Opts::new(name("automatic_reloads_total"), "Times the configuration file was read again, by outcome.");
        let last = Opts::new(
            name("automatic_reload_last_timestamp_seconds"),
            "When the configuration file was last read again.",
        );
        let reloads = Reloads {
            total: IntCounterVec::new(total, &["status", "apiserver_id_hash"]).expect("a well-formed metric"),
            last: GaugeVec::new(last, &["status", "apiserver_id_hash"]).expect("a well-formed metric"),
            server: identity::hash(&identity::of_host(hostname)),
        };
        // Only a name registered twice is refused, and a server has one file of each kind.
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

/// Calls `apply` with what a file says each time that changes, from what it `said`. What is wrong with it is logged, and what held before
/// goes on to hold.
pub(crate) fn follow(
    path: PathBuf,
    mut said: Vec<u8>,
    reloads: Reloads,
    apply: impl Fn(&[u8]) -> Result<(), String> + Send + 'static,
) {
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(EVERY).await;
            // A file that is just being replaced is there again the next time.
            let Ok(text) = tokio::fs::read(&path).await else { continue };
            if text == said {
                continue;
            }
            let outcome = apply(&text);
            match &outcome {
                Ok(()) => tracing::info!(path = %path.display(), "reloaded the configuration"),
                Err(why) => {
                    tracing::error!(path = %path.display(), why, "the configuration is not right; the old one holds")
                }
            }
            reloads.count(if outcome.is_ok() { "success" } else { "failure" });
            said = text;
        }
    });
}
