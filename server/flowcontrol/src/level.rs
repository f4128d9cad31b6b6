//! A priority level at work: its queue set, its limits, and how many seats it could use.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::config::{PriorityLevel, Queuing};
use crate::control::FlowControl;
use crate::demand::DemandStats;
use crate::dropped::Dropped;
use crate::metrics::LevelMetrics;
use crate::queue_set::{Arrival, Outcome, QueueSet, RequestId};

/// Of a level's own seats, the part that one request may take.
const WIDEST_REQUEST: f64 = 0.15;
/// For how long seats may look taken that are free, when nobody waits for them.
const UNHURRIED: Duration = Duration::from_millis(100);

/// A level. It outlives changes of the configuration, so that what waits and runs stays counted.
pub struct Level {
    pub name: String,
    state: Mutex<State>,
    pub metrics: LevelMetrics,
}

/// What changes of a level.
pub struct State {
    /// What the objects say, or said last of a level that is gone.
    pub config: PriorityLevel,
    pub queues: QueueSet,
    pub limits: Limits,
    pub demand: DemandStats,
    pub dropped: Dropped,
    /// When it will be seen which seats are free.
    alarm: Option<Duration>,
    /// Nobody wants the level any longer; it goes when it is idle.
    pub is_quiescing: bool,
}

/// Seats of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    pub nominal: u32,
    /// Without all that it may lend.
    pub lower: u32,
    /// With all that it may borrow.
    pub upper: u32,
    /// For now.
    pub current: u32,
}

impl Limits {
    /// Of a level with these shares of all seats of the server.
    pub fn of(config: &PriorityLevel, all_seats: u32, all_shares: u32) -> Self {
        let percent = |part: u32, seats: u32| (f64::from(seats) * f64::from(part) / 100.0).round() as u32;
        // Rounded up, so that a small level has a seat; the sum may be a little more than there are.
        let nominal = (f64::from(all_seats) * f64::from(config.shares) / f64::from(all_shares.max(1))).ceil() as u32;
        let lendable = percent(config.lendable_percent, nominal);
        let borrowed = config.borrowing_percent.map_or(all_seats, |part| percent(part, nominal));
        Limits {
            nominal,
            lower: nominal - lendable.min(nominal),
            upper: nominal + borrowed,
            current: nominal - lendable / 2,
        }
    }
}

impl Level {
    /// A level that has no seats yet.
    pub fn new(config: PriorityLevel, metrics: LevelMetrics) -> Arc<Self> {
        let state = State {
            queues: QueueSet::new(config.queuing, 0),
            limits: Limits::default(),
            demand: DemandStats::default(),
            dropped: Dropped::default(),
            alarm: None,
            is_quiescing: false,
            config,
        };
        Arc::new(Level { name: state.config.name.clone(), state: Mutex::new(state), metrics })
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a request in; of one that is rejected, says in how many seconds its client should come again.
    pub fn start(
        self: &Arc<Self>,
        control: &FlowControl,
        now: Duration,
        arrival: Arrival,
    ) -> Result<(RequestId, Option<oneshot::Receiver<()>>), u64> {
        let mut state = self.lock();
        match state.queues.start(now, arrival) {
            Outcome::Executing(id) => Ok((id, None)),
            Outcome::Waiting(id, told) => {
                self.set_alarm(control, &mut state);
                Ok((id, Some(told)))
            }
            Outcome::Rejected => Err(state.dropped.record(now)),
        }
    }

    /// See [`QueueSet::end`].
    pub fn end(self: &Arc<Self>, control: &FlowControl, now: Duration, id: RequestId) {
        let mut state = self.lock();
        state.queues.end(now, id);
        self.set_alarm(control, &mut state);
    }

    /// Sees to it that seats are free when final work is done: at that time if requests wait, and soon enough for whoever looks at the
    /// metrics if none does. A write that is watched then costs no timer of its own.
    fn set_alarm(self: &Arc<Self>, control: &FlowControl, state: &mut State) {
        let Some(due) = state.queues.next_release() else { return };
        let at = if state.queues.load().0 > 0 { due } else { due + UNHURRIED };
        let Ok(runtime) = Handle::try_current() else { return };
        if state.alarm.is_some_and(|set| set <= at) {
            return;
        }
        state.alarm = Some(at);
        let (level, control) = (self.clone(), control.clone());
        runtime.spawn(async move {
            tokio::time::sleep(at.saturating_sub(control.now())).await;
            let mut state = level.lock();
            state.queues.sync(control.now());
            // One that was set since, for an earlier time, goes on.
            if state.alarm == Some(at) {
                state.alarm = None;
                level.set_alarm(&control, &mut state);
            }
        });
    }

    /// A request has waited for too long; says in how many seconds its client should come again.
    pub fn give_up(&self, now: Duration) -> u64 {
        self.lock().dropped.record(now)
    }
}

impl State {
    /// Whether nobody wants the level, and nothing of it is left.
    pub fn is_gone(&self) -> bool {
        self.is_quiescing && self.queues.is_idle()
    }

    /// Gives the level its part of the server's seats.
    pub fn share(&mut self, all_seats: u32, all_shares: u32) {
        let limits = Limits::of(&self.config, all_seats, all_shares);
        let is_new = self.limits == Limits::default();
        self.limits = Limits { current: if is_new { limits.current } else { self.limits.current }, ..limits };
    }

    /// The most seats that one request may take; none: no limit of the level's own.
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
    fn seats_are_shared_out_by_shares() {
        let [_, level] = mandatory_levels();
        let level = PriorityLevel { shares: 40, lendable_percent: 25, borrowing_percent: Some(50), ..level };
        let limits = Limits::of(&level, 600, 245);
        assert_eq!(limits, Limits { nominal: 98, lower: 73, upper: 147, current: 86 });
        let level = PriorityLevel { shares: 5, lendable_percent: 0, borrowing_percent: None, ..level };
        assert_eq!(Limits::of(&level, 600, 245), Limits { nominal: 13, lower: 13, upper: 613, current: 13 });
    }
}
