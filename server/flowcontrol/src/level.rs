//! The state of a priority level: queue set, limits, and demand.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::config::{PriorityLevel, Queuing};
use crate::demand::DemandStats;
use crate::dropped::DroppedRequestsTracker;
use crate::metrics::LevelMetrics;
use crate::queue_set::{Arrival, ArrivalOutcome, QueueSet, RequestId};

/// The clock of the levels. Its clones have the same time.
pub trait MonotonicClock: Clone + Send + 'static {
    /// The time since the start of the clock.
    fn now(&self) -> Duration;
}

/// The fraction of a level's own seats that one request may take.
const WIDEST_REQUEST: f64 = 0.15;
/// The delay of releasing seats of final work while no request waits.
const IDLE_RELEASE_DELAY: Duration = Duration::from_millis(100);

/// A level. It outlives configuration changes, so that waiting and running requests stay counted.
pub struct PriorityLevelState {
    pub name: String,
    state: Mutex<MutableState>,
    pub metrics: LevelMetrics,
}

/// The mutable state of a level.
pub struct MutableState {
    /// The current configuration, or the last one of a removed level.
    pub config: PriorityLevel,
    pub queues: QueueSet,
    pub limits: SeatLimits,
    pub demand: DemandStats,
    pub dropped: DroppedRequestsTracker,
    /// When the next release of seats is scheduled.
    next_timer: Option<Duration>,
    /// The level was removed from the configuration; it is dropped when it is idle.
    pub is_quiescing: bool,
}

/// The seat limits of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeatLimits {
    pub nominal: u32,
    /// The seats without those that it may lend.
    pub lower: u32,
    /// The seats including those that it may borrow.
    pub upper: u32,
    /// The limit of the current period.
    pub current: u32,
}

impl SeatLimits {
    /// Computes the limits from the level's shares, all seats, and all shares of the server.
    pub fn of(config: &PriorityLevel, all_seats: u32, all_shares: u32) -> Self {
        let percent = |part: u32, seats: u32| (f64::from(seats) * f64::from(part) / 100.0).round() as u32;
        // Rounded up, so that a small level has a seat; the sum may exceed the seats of the server.
        let nominal = (f64::from(all_seats) * f64::from(config.shares) / f64::from(all_shares.max(1))).ceil() as u32;
        let lendable = percent(config.lendable_percent, nominal);
        let borrowed = config.borrowing_percent.map_or(all_seats, |part| percent(part, nominal));
        SeatLimits {
            nominal,
            lower: nominal - lendable.min(nominal),
            upper: nominal + borrowed,
            current: nominal - lendable / 2,
        }
    }
}

impl PriorityLevelState {
    /// Creates a level without seats.
    pub fn new(config: PriorityLevel, metrics: LevelMetrics) -> Arc<Self> {
        let state = MutableState {
            queues: QueueSet::new(config.queuing, 0),
            limits: SeatLimits::default(),
            demand: DemandStats::default(),
            dropped: DroppedRequestsTracker::default(),
            next_timer: None,
            is_quiescing: false,
            config,
        };
        Arc::new(PriorityLevelState { name: state.config.name.clone(), state: Mutex::new(state), metrics })
    }

    pub fn lock(&self) -> MutexGuard<'_, MutableState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits, queues, or rejects a request.
    ///
    /// # Errors
    /// The request is rejected; the value is the seconds after which the client should retry.
    pub fn start(
        self: &Arc<Self>,
        clock: &impl MonotonicClock,
        now: Duration,
        arrival: Arrival,
    ) -> Result<(RequestId, Option<oneshot::Receiver<()>>), u64> {
        let mut state = self.lock();
        match state.queues.start(now, arrival) {
            ArrivalOutcome::Executing(id) => Ok((id, None)),
            ArrivalOutcome::Waiting(id, receiver) => {
                self.set_timer(clock, &mut state);
                Ok((id, Some(receiver)))
            }
            ArrivalOutcome::Rejected => Err(state.dropped.record(now)),
        }
    }

    /// Ends a request; see [`QueueSet::end`].
    pub fn end(self: &Arc<Self>, clock: &impl MonotonicClock, now: Duration, id: RequestId) {
        let mut state = self.lock();
        state.queues.end(now, id);
        self.set_timer(clock, &mut state);
    }

    /// Schedules the release of the seats of final work.
    ///
    /// If requests wait, the seats are released when the work is done. Otherwise they are released
    /// with a delay, which is short enough for metrics. Watched writes then need no timer each.
    fn set_timer(self: &Arc<Self>, clock: &impl MonotonicClock, state: &mut MutableState) {
        let Some(due) = state.queues.next_release() else { return };
        let at = if state.queues.load().0 > 0 { due } else { due + IDLE_RELEASE_DELAY };
        let Ok(runtime) = Handle::try_current() else { return };
        if state.next_timer.is_some_and(|set| set <= at) {
            return;
        }
        state.next_timer = Some(at);
        let (level, clock) = (self.clone(), clock.clone());
        runtime.spawn(async move {
            tokio::time::sleep(at.saturating_sub(clock.now())).await;
            let mut state = level.lock();
            state.queues.sync(clock.now());
            // A timer that was set since, for an earlier time, continues.
            if state.next_timer == Some(at) {
                state.next_timer = None;
                level.set_timer(&clock, &mut state);
            }
        });
    }

    /// Records a request that timed out in a queue; returns the seconds after which the client
    /// should retry.
    pub fn record_timeout(&self, now: Duration) -> u64 {
        self.lock().dropped.record(now)
    }
}

impl MutableState {
    /// Whether the level is removed from the configuration and idle.
    pub fn is_quiesced(&self) -> bool {
        self.is_quiescing && self.queues.is_idle()
    }

    /// Gives the level its share of the server's seats.
    pub fn share(&mut self, all_seats: u32, all_shares: u32) {
        let limits = SeatLimits::of(&self.config, all_seats, all_shares);
        let is_new = self.limits == SeatLimits::default();
        self.limits = SeatLimits { current: if is_new { limits.current } else { self.limits.current }, ..limits };
    }

    /// The most seats that one request may take; `None` means no limit by the level.
    pub fn widest_request(&self) -> Option<u32> {
        let Queuing::Queues { hand_size, .. } = self.config.queuing else { return None };
        let part = (f64::from(self.limits.nominal) * WIDEST_REQUEST).ceil() as u32;
        Some(part.min(self.limits.nominal / hand_size.max(1) as u32).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::mandatory_levels;

    #[test]
    fn limits_follow_from_shares() {
        let [_, level] = mandatory_levels();
        let level = PriorityLevel { shares: 40, lendable_percent: 25, borrowing_percent: Some(50), ..level };
        let limits = SeatLimits::of(&level, 600, 245);
        assert_eq!(limits, SeatLimits { nominal: 98, lower: 73, upper: 147, current: 86 });
        let level = PriorityLevel { shares: 5, lendable_percent: 0, borrowing_percent: None, ..level };
        assert_eq!(SeatLimits::of(&level, 600, 245), SeatLimits { nominal: 13, lower: 13, upper: 613, current: 13 });
    }
}
