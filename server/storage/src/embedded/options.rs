//! Options of the embedded store.

use std::time::Duration;

use super::space::SpaceLimits;

/// Options of an embedded store; the defaults suit a server.
#[derive(Clone, Debug)]
pub struct EmbeddedOptions {
    /// Interval of compactions; `None` disables periodic compaction. Default: 5 minutes.
    ///
    /// Each compacts to the revision at the previous one (upstream's `--etcd-compaction-interval`).
    pub compaction_interval: Option<Duration>,
    /// Delay of the progress notification to watches after a change. Default: 5 s.
    ///
    /// etcd's flag is `--watch-progress-notify-interval`.
    pub progress_interval: Duration,
    /// Maximum size in bytes of the events queued for one watcher. Default: 16 MiB.
    ///
    /// The watch ends when more events are queued ([`Error::WatchTooSlow`](crate::Error::WatchTooSlow)).
    pub watch_queue_bytes: usize,
    /// Maximum size in bytes of the requests queued for the writer. Default: 32 MiB.
    ///
    /// Further requests wait for space in the queue.
    pub write_queue_bytes: u32,
    /// Whether acknowledged writes survive a power cut, at the cost of an fsync.
    ///
    /// Tests can do without it. Default: true.
    pub durable: bool,
    /// The free space that the disk must have. Without durability, no reserve is kept.
    pub space: SpaceLimits,
}

impl Default for EmbeddedOptions {
    fn default() -> Self {
        Self {
            compaction_interval: Some(Duration::from_secs(300)),
            progress_interval: Duration::from_secs(5),
            watch_queue_bytes: 16 << 20,
            write_queue_bytes: 32 << 20,
            durable: true,
            space: SpaceLimits::default(),
        }
    }
}
