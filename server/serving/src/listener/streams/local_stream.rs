//! A migrated stream that ignores wakes which it has already handled.
//!
//! `h2` wakes a stream for each frame that it accepts, because the stream may send more. The stream
//! detects that itself: before it is pending on its body, it checks all other conditions. Of the
//! wakes during its own poll, only those after that check count. `FuturesUnordered` would take each
//! of them for a stream that starves others, and yield.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::listener::self_wake::{SelfWakeTracker, clear_self_wakes};

/// Marks that the current stream polls its body: earlier self-wakes are handled.
pub(crate) fn body_polled() {
    clear_self_wakes();
}

/// A stream as its connection polls it.
pub(super) struct LocalStream<F> {
    stream: F,
    tracker: SelfWakeTracker,
}

impl<F> LocalStream<F> {
    pub fn new(stream: F) -> Self {
        LocalStream { stream, tracker: SelfWakeTracker::new() }
    }
}

impl<F: Future + Unpin> Future for LocalStream<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let LocalStream { stream, tracker } = &mut *self;
        let (polled, is_woken) = tracker.poll(context, |own| Pin::new(stream).poll(own));
        if is_woken {
            context.waker().wake_by_ref();
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::Arc;
    use std::task::Waker;

    use super::*;
    use crate::listener::self_wake::testing::{Wakes, wake_elsewhere};

    /// Counts the wakes of a stream with this behaviour: during its poll, then including one from
    /// another thread after it.
    fn wakes(poll: impl Fn(&Waker) + Unpin) -> [usize; 2] {
        let (counter, mut stream_waker) = (Arc::new(Wakes::default()), None);
        let mut stream = LocalStream::new(poll_fn(|context| {
            poll(context.waker());
            stream_waker = Some(context.waker().clone());
            Poll::<()>::Pending
        }));
        let waker = Waker::from(counter.clone());
        assert!(Pin::new(&mut stream).poll(&mut Context::from_waker(&waker)).is_pending());
        drop(stream);
        let first = counter.count();
        wake_elsewhere(&stream_waker.unwrap());
        [first, counter.count()]
    }

    #[test]
    fn only_unhandled_self_wakes_count() {
        assert_eq!(wakes(|_| {}), [0, 1]);
        assert_eq!(wakes(Waker::wake_by_ref), [1, 2], "the body was not polled afterwards");
        let handled = |waker: &Waker| {
            waker.wake_by_ref();
            body_polled();
        };
        assert_eq!(wakes(handled), [0, 1]);
        let unhandled = |waker: &Waker| {
            body_polled();
            waker.wake_by_ref();
        };
        assert_eq!(wakes(unhandled), [1, 2]);
        let elsewhere = |waker: &Waker| {
            wake_elsewhere(waker);
            body_polled();
        };
        assert_eq!(wakes(elsewhere), [1, 1], "wakes of other threads count, once per poll");
    }
}
