//! How many seats a request takes (upstream: `request.WorkEstimator`).
//!
//! A list is charged by the bytes that it sends, which the watch cache knows, and not by the number of its objects: ten thousand leases cost
//! less than ten thousand pods. Unlike upstream's the charge does not end at a megabyte: upstream counts memory, of which a list that is
//! streamed needs no more than that; here lists cost processor time.

use std::time::Duration;

use crate::control::{Class, FlowControl};
use crate::digest::Digest;
use crate::work::WorkEstimate;

/// Bytes that one seat of a list stands for.
const BYTES_PER_SEAT: u64 = 100_000;
/// The most seats of a list in a level that sets no limit of its own.
const WIDEST_LIST: u32 = 100;
/// Watchers that are told of a write in [`EVENT_TIME`] by one seat; so many there have to be before a write is charged for them.
const WATCHERS_PER_SEAT: usize = 10;
/// The most seats of a write.
const WIDEST_WRITE: u32 = 10;
/// How long a seat is taken for telling watchers.
const EVENT_TIME: Duration = Duration::from_millis(5);

/// How much there is of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListSize {
    pub objects: u64,
    pub bytes: u64,
}

/// Knows how much there is of resources.
pub trait ListSizes: Send + Sync {
    /// What there is of a resource; none when it is not kept here.
    fn of(&self, group: &str, resource: &str) -> Option<ListSize>;
}

/// A request for the objects of a collection: a list, or a watch that begins with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Initial {
    /// The most objects that are wanted; 0: all.
    pub limit: u64,
}

impl FlowControl {
    /// The seats of a request; `initial` when it asks for the objects of a collection.
    pub fn estimate(&self, class: &Class, digest: &Digest<'_>, initial: Option<Initial>) -> WorkEstimate {
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
    fn writes_are_charged_for_those_who_watch() {
        assert_eq!((write(0), write(9)), (WorkEstimate::seats(1), WorkEstimate::seats(1)));
        assert_eq!((write(10).final_seats, write(95).final_seats), (1, 10));
        let narrow = write(1000).narrowed(10);
        assert_eq!((narrow.final_seats, narrow.additional_latency), (10, Duration::from_millis(50)));
    }
}
