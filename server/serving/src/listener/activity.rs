//! Whether anything happens on a connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// A connection without requests is ended after so long (upstream: `IdleTimeout`), give or take a tick.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);
/// So often it is looked at.
const TICK: Duration = Duration::from_secs(30);

/// Counts the requests of a connection.
#[derive(Default)]
pub(super) struct Activity {
    begun: AtomicU64,
    ended: AtomicU64,
}

/// A request, until this is dropped.
pub(super) struct UnderWay(Arc<Activity>);

impl Activity {
    pub fn begin(self: &Arc<Self>) -> UnderWay {
        self.begun.fetch_add(1, Ordering::Relaxed);
        UnderWay(self.clone())
    }

    /// How many requests have begun and not ended.
    pub fn under_way(&self) -> u64 {
        let ended = self.ended.load(Ordering::Relaxed);
        self.begun.load(Ordering::Relaxed).saturating_sub(ended)
    }

    /// Waits until nothing has happened for too long.
    pub async fn ceased(&self) {
        let mut ticks = tokio::time::interval_at(Instant::now() + TICK, TICK);
        let mut idleness = Idleness::default();
        loop {
            ticks.tick().await;
            if idleness.is_over(self) {
                return;
            }
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}

/// Looks at a connection from time to time.
#[derive(Default)]
struct Idleness {
    seen: u64,
    ticks: u32,
}

impl Idleness {
    /// Whether nothing has happened for too long. To be asked once a tick.
    fn is_over(&mut self, activity: &Activity) -> bool {
        let (begun, ended) = (activity.begun.load(Ordering::Relaxed), activity.ended.load(Ordering::Relaxed));
        self.ticks = if begun == ended && begun == self.seen { self.ticks + 1 } else { 0 };
        self.seen = begun;
        TICK * self.ticks >= IDLE_TIMEOUT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_is_who_has_no_request_for_three_ticks() {
        let (activity, mut idleness) = (Arc::new(Activity::default()), Idleness::default());
        let mut ticks = |count: usize| (0..count).any(|_| idleness.is_over(&activity));
        assert!(!ticks(2));
        let watch = activity.begin();
        assert!(!ticks(20));
        drop(watch);
        assert!(!ticks(2) && ticks(1));
    }
}
