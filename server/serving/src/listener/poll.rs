//! Polls the streams of a connection before the connection itself.
//!
//! Polling streams wakes the connection: `h2` wakes it for each frame, and `FuturesUnordered` after
//! as many polls as it has streams. Neither wake needs another poll of the task, which would find
//! nothing. The connection is polled after its streams anyway, and streams are polled again while
//! they wake themselves.

use std::task::Context;

use super::self_wake::SelfWakeTracker;

/// The maximum number of rounds per poll, so that other tasks can run.
const MAX_ROUNDS: usize = 4;

/// Polls the streams until none wakes itself, then polls the connection, which writes their frames.
pub(super) fn poll_streams_then_connection<T>(
    tracker: &SelfWakeTracker,
    context: &Context<'_>,
    mut streams: impl FnMut(&mut Context<'_>),
    connection: impl FnOnce(&mut Context<'_>) -> T,
) -> T {
    let have_more = (0..MAX_ROUNDS).all(|_| tracker.poll(context, &mut streams).1);
    if have_more {
        context.waker().wake_by_ref();
    }
    connection(&mut Context::from_waker(tracker.waker()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::task::Waker;

    use super::*;
    use crate::listener::self_wake::testing::{Wakes, wake_elsewhere};

    /// Counts how often streams with this behaviour are polled in one call, and how often the task
    /// is woken.
    fn poll_counts(streams: impl Fn(usize, &Waker), connection: impl FnOnce(&Waker)) -> (usize, usize) {
        let (wakes, mut rounds) = (Arc::new(Wakes::default()), 0);
        let task = Waker::from(wakes.clone());
        let streams = |context: &mut Context<'_>| {
            rounds += 1;
            streams(rounds, context.waker());
        };
        poll_streams_then_connection(&SelfWakeTracker::new(), &Context::from_waker(&task), streams, |context| {
            connection(context.waker())
        });
        (rounds, wakes.count())
    }

    #[test]
    fn self_woken_streams_are_polled_again() {
        assert_eq!(poll_counts(|_, _| {}, |_| {}), (1, 0));
        let twice = |round, waker: &Waker| {
            if round < 3 {
                waker.wake_by_ref();
            }
        };
        assert_eq!(poll_counts(twice, |_| {}), (3, 0));
        assert_eq!(poll_counts(|_, waker| waker.wake_by_ref(), |_| {}), (MAX_ROUNDS, 1), "other tasks can run");
    }

    #[test]
    fn other_wakes_reach_the_task() {
        assert_eq!(poll_counts(|_, _| {}, Waker::wake_by_ref), (1, 1), "by the connection");
        assert_eq!(poll_counts(|_, waker| wake_elsewhere(waker), |_| {}), (1, 1), "by another thread");
    }
}
