//! A turn of a connection, in which its streams speak before it writes.
//!
//! While they speak they wake the connection: `h2` for each frame that it is handed, and `FuturesUnordered` when it has polled as many streams as
//! there are, be it one. Neither is worth a turn more, at which nothing would be found: the connection is polled after its streams anyway,
//! and whether they have more to say is asked at once.

use std::task::Context;

use super::self_wake::SelfWakeTracker;

/// How often streams are polled in a turn, before others have theirs.
const MOST_ROUNDS: usize = 4;

/// Lets the streams of a connection speak until they have nothing more to say, then polls the connection, which finds what they said.
pub(super) fn poll_streams_then_connection<T>(
    ear: &SelfWakeTracker,
    context: &Context<'_>,
    mut streams: impl FnMut(&mut Context<'_>),
    connection: impl FnOnce(&mut Context<'_>) -> T,
) -> T {
    let have_more = (0..MOST_ROUNDS).all(|_| ear.poll(context, &mut streams).1);
    if have_more {
        context.waker().wake_by_ref();
    }
    connection(&mut Context::from_waker(ear.waker()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::task::Waker;

    use super::*;
    use crate::listener::self_wake::testing::{Wakes, wake_elsewhere};

    /// How often streams that do this are polled in a turn, and how often the task is woken for it.
    fn turn(streams: impl Fn(usize, &Waker), connection: impl FnOnce(&Waker)) -> (usize, usize) {
        let (heard, mut rounds) = (Arc::new(Wakes::default()), 0);
        let task = Waker::from(heard.clone());
        let streams = |context: &mut Context<'_>| {
            rounds += 1;
            streams(rounds, context.waker());
        };
        poll_streams_then_connection(&SelfWakeTracker::new(), &Context::from_waker(&task), streams, |context| {
            connection(context.waker())
        });
        (rounds, heard.count())
    }

    #[test]
    fn who_is_woken_by_its_own_streams_asks_them_again_at_once() {
        assert_eq!(turn(|_, _| {}, |_| {}), (1, 0));
        let twice = |round, waker: &Waker| {
            if round < 3 {
                waker.wake_by_ref();
            }
        };
        assert_eq!(turn(twice, |_| {}), (3, 0));
        assert_eq!(turn(|_, waker| waker.wake_by_ref(), |_| {}), (MOST_ROUNDS, 1), "others have their turn, too");
    }

    #[test]
    fn any_other_wake_is_heard() {
        assert_eq!(turn(|_, _| {}, Waker::wake_by_ref), (1, 1), "by the connection");
        assert_eq!(turn(|_, waker| wake_elsewhere(waker), |_| {}), (1, 1), "by another thread");
    }
}
