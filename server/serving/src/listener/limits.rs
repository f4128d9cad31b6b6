//! How many connections are served at a time, derived from how many files the process may open.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::options::ConnectionOptions;

/// The most connections that are served unless a flag says more: each takes some ten kilobytes.
const MOST: u64 = 32_768;
/// The fewest connections that are served, however few files may be opened.
const FEWEST: u64 = 16;
/// Files that are kept for the store, webhooks and backends: a quarter of all, and at least so many.
const RESERVE: u64 = 64;

/// What upstream gives a stream, so that most bodies come in one go: the 99th percentile of bodies.
pub(super) const STREAM_WINDOW: u32 = 256 * 1024;
/// The least that all streams of a connection together may have sent and not been read. Bodies are read soon, so that a small window only
/// delays clients whose uploads stall.
const MIN_WINDOW: u64 = 512 * 1024;
/// The largest window that HTTP/2 has for a connection.
const MAX_WINDOW: u32 = (1 << 31) - 1;

/// Connections that may be open at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// All connections.
    pub total: usize,
    /// Connections of one client address.
    pub per_address: usize,
    /// Connections on which no request has been authenticated; the rest is kept for authenticated clients.
    pub unauthenticated: usize,
    /// Connections whose TLS handshake is not complete. They count as unauthenticated as well.
    pub handshaking: usize,
}

impl Limits {
    /// The limits of the options, and where these leave the choice, shares of `open_files`.
    pub fn new(options: &ConnectionOptions, open_files: u64) -> Self {
        let available = open_files.saturating_sub((open_files / 4).max(RESERVE)).max(FEWEST);
        let given = |limit: usize| u64::try_from(limit).ok().filter(|limit| *limit > 0);
        let total = given(options.max).unwrap_or(MOST.min(available));
        if total > available {
            tracing::warn!(
                total,
                open_files,
                available,
                "--max-connections exceeds what the limit of open files allows"
            );
        }
        let total = total.min(available);
        let share = |limit: usize, otherwise: u64| given(limit).unwrap_or(otherwise).clamp(1, total) as usize;
        let unauthenticated = share(options.max_unauthenticated, total / 2);
        Limits {
            total: total as usize,
            per_address: share(options.max_per_address, total / 4 * 3),
            unauthenticated,
            handshaking: (unauthenticated / 2).max(1),
        }
    }
}

/// Bytes that the client of an HTTP/2 connection may have sent and that were not read, in all its streams. All connections together take as
/// much memory as requests may (`work::memory::limit`), or [`MIN_WINDOW`] each.
pub(super) fn connection_window(memory: u64, connections: usize, max_streams: u32) -> u32 {
    let of_streams = u64::from(STREAM_WINDOW) * u64::from(max_streams.max(1));
    let share = (memory / connections.max(1) as u64).max(MIN_WINDOW);
    u32::try_from(share.min(of_streams)).unwrap_or(MAX_WINDOW).clamp(STREAM_WINDOW, MAX_WINDOW)
}

/// Raises the soft limit of open files to the hard limit, as Go's runtime does, and returns what holds then. The limit
/// belongs to the process and is raised once.
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
    fn limits_leave_files_for_everything_else() {
        let derived = |open_files| {
            let limits = Limits::new(&ConnectionOptions::default(), open_files);
            (limits.total, limits.per_address, limits.unauthenticated, limits.handshaking)
        };
        assert_eq!(derived(1_024), (768, 576, 384, 192));
        assert_eq!(derived(1 << 20), (32_768, 24_576, 16_384, 8_192));
        assert_eq!(derived(u64::MAX), (32_768, 24_576, 16_384, 8_192));
        assert_eq!(derived(10), (16, 12, 8, 4));
    }

    #[test]
    fn windows_of_all_connections_fit_into_the_memory_of_requests() {
        let (gib, streams) = (1u64 << 30, 250);
        assert_eq!(connection_window(4 * gib, 1024, streams), 4 << 20);
        assert_eq!(connection_window(gib, 32_768, streams), 512 << 10, "the least");
        assert_eq!(connection_window(64 * gib, 16, streams), STREAM_WINDOW * streams, "all streams at once");
        assert_eq!(connection_window(64 * gib, 1, u32::MAX), MAX_WINDOW);
        assert_eq!(connection_window(gib, 16, 1), STREAM_WINDOW);
    }

    #[test]
    fn flags_count_as_far_as_files_allow() {
        let options =
            ConnectionOptions { max: 100_000, max_per_address: 10, max_unauthenticated: 1, ..Default::default() };
        let limits = Limits::new(&options, 65_536);
        assert_eq!(limits, Limits { total: 49_152, per_address: 10, unauthenticated: 1, handshaking: 1 });
        assert_eq!(Limits::new(&options, 1 << 20).total, 100_000);
    }
}
