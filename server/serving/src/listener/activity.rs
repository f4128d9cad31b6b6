//! Detects idle connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// The idle timeout of a connection (upstream: `IdleTimeout`); the precision is one tick.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);
/// The idle timeout until a request of the connection has been authenticated.
const UNAUTHENTICATED_TIMEOUT: Duration = Duration::from_secs(30);
/// The interval of the checks.
const TICK: Duration = Duration::from_secs(30);

/// Counts the requests of a connection.
#[derive(Default)]
pub(super) struct Activity {
    begun: AtomicU64,
    ended: AtomicU64,
}

/// Counts a request as in flight until it is dropped.
pub(super) struct InFlight(Arc<Activity>);

impl Activity {
    pub fn begin(self: &Arc<Self>) -> InFlight {
        self.begun.fetch_add(1, Ordering::Relaxed);
        InFlight(self.clone())
    }

    /// The number of requests in flight.
    pub fn in_flight(&self) -> u64 {
        let ended = self.ended.load(Ordering::Relaxed);
        self.begun.load(Ordering::Relaxed).saturating_sub(ended)
    }

    /// Waits until the connection has been idle for its timeout.
    pub async fn ceased(&self, is_authenticated: impl Fn() -> bool) {
        let mut ticks = tokio::time::interval_at(Instant::now() + TICK, TICK);
        let mut idleness = Idleness::default();
        loop {
            ticks.tick().await;
            let allowed = if is_authenticated() { IDLE_TIMEOUT } else { UNAUTHENTICATED_TIMEOUT };
            if idleness.update(self) >= allowed {
                return;
            }
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}

/// Measures idle time in ticks.
#[derive(Default)]
struct Idleness {
    seen: u64,
    ticks: u32,
}

impl Idleness {
    /// The idle time so far. Must be called once per tick.
    fn update(&mut self, activity: &Activity) -> Duration {
        let (begun, ended) = (activity.begun.load(Ordering::Relaxed), activity.ended.load(Ordering::Relaxed));
        self.ticks = if begun == ended && begun == self.seen { self.ticks + 1 } else { 0 };
        self.seen = begun;
        TICK * self.ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idleness_is_counted_in_ticks() {
        let (activity, mut idleness) = (Arc::new(Activity::default()), Idleness::default());
        let mut ticks = |count: usize| (0..count).map(|_| idleness.update(&activity)).max();
        assert_eq!(ticks(2), Some(2 * TICK));
        let watch = activity.begin();
        assert_eq!(ticks(20), Some(Duration::ZERO));
        drop(watch);
        assert_eq!(ticks(3), Some(IDLE_TIMEOUT));
    }
}
