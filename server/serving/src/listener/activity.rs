//! Whether anything happens on a connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// A connection without requests is ended after so long (upstream: `IdleTimeout`), give or take a tick.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);
/// The same while no request of the connection has been authenticated.
const UNAUTHENTICATED_TIMEOUT: Duration = Duration::from_secs(30);
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

    /// Waits until nothing has happened for too long; on a connection that is not authenticated, for a tick.
    pub async fn ceased(&self, is_authenticated: impl Fn() -> bool) {
        let mut ticks = tokio::time::interval_at(Instant::now() + TICK, TICK);
        let mut idleness = Idleness::default();
        loop {
            ticks.tick().await;
            let allowed = if is_authenticated() { IDLE_TIMEOUT } else { UNAUTHENTICATED_TIMEOUT };
            if idleness.lasts(self) >= allowed {
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
    /// For how long nothing has happened. To be asked once a tick.
    fn lasts(&mut self, activity: &Activity) -> Duration {
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
        let mut ticks = |count: usize| (0..count).map(|_| idleness.lasts(&activity)).max();
        assert_eq!(ticks(2), Some(2 * TICK));
        let watch = activity.begin();
        assert_eq!(ticks(20), Some(Duration::ZERO));
        drop(watch);
        assert_eq!(ticks(3), Some(IDLE_TIMEOUT));
    }
}
