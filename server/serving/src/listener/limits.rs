//! Connection limits, derived from the limit of open files.

use std::sync::OnceLock;

use options::ConnectionOptions;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The default maximum of connections: each takes about ten kilobytes.
const MAX_CONNECTIONS: u64 = 32_768;
/// The minimum of connections, however few files may be opened.
const MIN_CONNECTIONS: u64 = 16;
/// Files reserved for the store, webhooks, and backends: a quarter of all, and at least this many.
const RESERVED_FILES: u64 = 64;

/// Upstream's stream window: covers the 99th percentile of bodies in one round trip.
pub(super) const STREAM_WINDOW: u32 = 256 * 1024;
/// The minimum window of a connection for all its streams. Bodies are read soon, so a small window
/// only delays clients with stalled uploads.
const MIN_WINDOW: u64 = 512 * 1024;
/// The maximum window of an HTTP/2 connection.
const MAX_WINDOW: u32 = (1 << 31) - 1;

/// The limits of open connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConnectionLimits {
    /// All connections.
    pub total: usize,
    /// Connections per client address.
    pub per_address: usize,
    /// Connections without an authenticated request; the others are reserved for authenticated
    /// clients.
    pub unauthenticated: usize,
    /// Connections with an incomplete TLS handshake. They also count as unauthenticated.
    pub handshaking: usize,
}

impl ConnectionLimits {
    /// The limits of the options; defaults are shares of `open_files`.
    pub fn new(options: &ConnectionOptions, open_files: u64) -> Self {
        let available = open_files.saturating_sub((open_files / 4).max(RESERVED_FILES)).max(MIN_CONNECTIONS);
        let given = |limit: usize| u64::try_from(limit).ok().filter(|limit| *limit > 0);
        let total = given(options.max).unwrap_or(MAX_CONNECTIONS.min(available));
        if total > available {
            tracing::warn!(
                total,
                open_files,
                available,
                "--max-connections exceeds the limit of open files; using the available number"
            );
        }
        let total = total.min(available);
        let share = |limit: usize, otherwise: u64| given(limit).unwrap_or(otherwise).clamp(1, total) as usize;
        let unauthenticated = share(options.max_unauthenticated, total / 2);
        ConnectionLimits {
            total: total as usize,
            per_address: share(options.max_per_address, total / 4 * 3),
            unauthenticated,
            handshaking: (unauthenticated / 2).max(1),
        }
    }
}

/// The flow control window of an HTTP/2 connection: bytes of all streams that are sent but not
/// read.
///
/// All connections together use at most the memory of requests (`work::memory::limit`), or
/// [`MIN_WINDOW`] each.
pub(super) fn connection_window(memory: u64, connections: usize, max_streams: u32) -> u32 {
    let of_streams = u64::from(STREAM_WINDOW) * u64::from(max_streams.max(1));
    let share = (memory / connections.max(1) as u64).max(MIN_WINDOW);
    u32::try_from(share.min(of_streams)).unwrap_or(MAX_WINDOW).clamp(STREAM_WINDOW, MAX_WINDOW)
}

/// Raises the soft limit of open files to the hard limit, as Go's runtime does, and returns the
/// resulting limit. The limit applies to the process and is raised once.
pub(super) fn raise_open_files() -> u64 {
    static OPEN_FILES: OnceLock<u64> = OnceLock::new();
    *OPEN_FILES.get_or_init(|| {
        let before = getrlimit(Resource::Nofile);
        let wanted = Rlimit { current: before.maximum, maximum: before.maximum };
        if let Err(error) = setrlimit(Resource::Nofile, wanted) {
            tracing::warn!(%error, soft = before.current, hard = before.maximum, "cannot raise the limit of open files");
        }
        getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_reserve_files() {
        let derived = |open_files| {
            let limits = ConnectionLimits::new(&ConnectionOptions::default(), open_files);
            (limits.total, limits.per_address, limits.unauthenticated, limits.handshaking)
        };
        assert_eq!(derived(1_024), (768, 576, 384, 192));
        assert_eq!(derived(1 << 20), (32_768, 24_576, 16_384, 8_192));
        assert_eq!(derived(u64::MAX), (32_768, 24_576, 16_384, 8_192));
        assert_eq!(derived(10), (16, 12, 8, 4));
    }

    #[test]
    fn windows_of_all_connections_fit_into_request_memory() {
        let (gib, streams) = (1u64 << 30, 250);
        assert_eq!(connection_window(4 * gib, 1024, streams), 4 << 20);
        assert_eq!(connection_window(gib, 32_768, streams), 512 << 10, "the least");
        assert_eq!(connection_window(64 * gib, 16, streams), STREAM_WINDOW * streams, "all streams at once");
        assert_eq!(connection_window(64 * gib, 1, u32::MAX), MAX_WINDOW);
        assert_eq!(connection_window(gib, 16, 1), STREAM_WINDOW);
    }

    #[test]
    fn flags_are_capped_by_open_files() {
        let options =
            ConnectionOptions { max: 100_000, max_per_address: 10, max_unauthenticated: 1, ..Default::default() };
        let limits = ConnectionLimits::new(&options, 65_536);
        assert_eq!(limits, ConnectionLimits { total: 49_152, per_address: 10, unauthenticated: 1, handshaking: 1 });
        assert_eq!(ConnectionLimits::new(&options, 1 << 20).total, 100_000);
    }
}
