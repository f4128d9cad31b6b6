//! Estimates the seats of a request (upstream: `request.WorkEstimator`).
//!
//! A list is charged by the bytes of its response, as known to the watch cache, and not by its
//! object count. Ten thousand leases cost less than ten thousand pods. Upstream limits the charge
//! at a megabyte, because it counts memory and a streamed list needs no more. Here lists cost
//! processor time, so there is no such limit.

use std::time::Duration;

use crate::control::{Classification, FlowControl};
use crate::digest::Digest;
use crate::list_sizes::ListSize;
use crate::work::WorkEstimate;

/// Response bytes of a list per seat.
const BYTES_PER_SEAT: u64 = 100_000;
/// The most seats of a list in a level that sets no limit of its own.
const WIDEST_LIST: u32 = 100;
/// Watchers that one seat can notify of a write within [`EVENT_TIME`]. Writes with fewer watchers
/// are not charged for them.
const WATCHERS_PER_SEAT: usize = 10;
/// The most seats of a write.
const WIDEST_WRITE: u32 = 10;
/// How long a seat is taken to notify watchers.
const EVENT_TIME: Duration = Duration::from_millis(5);

/// A request for the objects of a collection: a list, or a watch that begins with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Initial {
    /// The limit of objects; 0 means no limit.
    pub limit: u64,
}

impl FlowControl {
    /// Estimates the seats of a request; `initial` is set when it reads the objects of a
    /// collection.
    pub fn estimate(&self, class: &Classification, digest: &Digest<'_>, initial: Option<Initial>) -> WorkEstimate {
        match (digest.verb, initial) {
            ("list" | "watch", Some(initial)) => {
                let size = self.0.list_sizes.get().and_then(|sizes| sizes.of(digest.group, digest.resource));
                let widest = class.widest_request.unwrap_or(WIDEST_LIST).min(WIDEST_LIST);
                WorkEstimate::seats(list_seats(size.unwrap_or_default(), initial, !digest.name.is_empty()).min(widest))
            }
            ("create" | "update" | "patch" | "delete", _) => {
                let watchers = self.0.watches.interested(digest);
                class.flow.metrics.watchers.observe(watchers as f64);
                write(watchers).narrowed(class.widest_request.unwrap_or(WIDEST_WRITE).min(WIDEST_WRITE))
            }
            _ => WorkEstimate::seats(1),
        }
    }
}

fn list_seats(size: ListSize, initial: Initial, is_one: bool) -> u32 {
    let sent = match initial.limit {
        _ if is_one => 1,
        0 => size.objects,
        limit => limit.min(size.objects),
    };
    let bytes = u128::from(size.bytes) * u128::from(sent) / u128::from(size.objects.max(1));
    u32::try_from(bytes.div_ceil(u128::from(BYTES_PER_SEAT))).unwrap_or(u32::MAX).max(1)
}

fn write(watchers: usize) -> WorkEstimate {
    if watchers < WATCHERS_PER_SEAT {
        return WorkEstimate::seats(1);
    }
    let final_seats = u32::try_from(watchers.div_ceil(WATCHERS_PER_SEAT)).unwrap_or(u32::MAX);
    WorkEstimate { initial_seats: 1, final_seats, additional_latency: EVENT_TIME }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_charged_by_their_bytes() {
        for (objects, bytes, limit, is_one, seats) in [
            (0, 0, 0, false, 1),
            (10_000, 1_000_000, 0, false, 10),
            (100, 1_000_000, 0, false, 10),
            (100, 1_000_000, 25, false, 3),
            (100, 1_000_000, 500, false, 10),
            (100, 1_000_000, 0, true, 1),
            (1, 900_001, 0, false, 10),
            (10_000, 78_000_000, 0, false, 780),
        ] {
            assert_eq!(list_seats(ListSize { objects, bytes }, Initial { limit }, is_one), seats, "{objects} {bytes}");
        }
    }

    #[test]
    fn writes_are_charged_by_watchers() {
        assert_eq!((write(0), write(9)), (WorkEstimate::seats(1), WorkEstimate::seats(1)));
        assert_eq!((write(10).final_seats, write(95).final_seats), (1, 10));
        let narrow = write(1000).narrowed(10);
        assert_eq!((narrow.final_seats, narrow.additional_latency), (10, Duration::from_millis(50)));
    }
}
