//! A settled stream, which is polled once for what it has to say, and not once more to find that it has said it.
//!
//! A stream that hands `h2` a frame is woken by it, for it may send more. It finds that out by itself: before it next waits for its body it
//! looks at everything else that there is. So of the wakes that come from within its own poll only those count that come after that;
//! `FuturesUnordered` would take each of them for one that keeps others waiting, and yield.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::listener::self_wake::{SelfWakeTracker, forget_wakes};

/// Says that the stream that is being polled now asks its body, and that nothing is left of what it was woken for before.
pub(crate) fn body_is_asked() {
    forget_wakes();
}

/// A stream as its connection polls it.
pub(super) struct LocalStream<F> {
    stream: F,
    ear: SelfWakeTracker,
}

impl<F> LocalStream<F> {
    pub fn new(stream: F) -> Self {
        LocalStream { stream, ear: SelfWakeTracker::new() }
    }
}

impl<F: Future + Unpin> Future for LocalStream<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let LocalStream { stream, ear } = &mut *self;
        let (polled, is_woken) = ear.poll(context, |own| Pin::new(stream).poll(own));
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

    /// How often its home hears of a stream that does this in its poll, from then on and from another thread after it.
    fn wakes(poll: impl Fn(&Waker) + Unpin) -> [usize; 2] {
        let (heard, mut asked) = (Arc::new(Wakes::default()), None);
        let mut stream = LocalStream::new(poll_fn(|context| {
            poll(context.waker());
            asked = Some(context.waker().clone());
            Poll::<()>::Pending
        }));
        let waker = Waker::from(heard.clone());
        assert!(Pin::new(&mut stream).poll(&mut Context::from_waker(&waker)).is_pending());
        drop(stream);
        let first = heard.count();
        wake_elsewhere(&asked.unwrap());
        [first, heard.count()]
    }

    #[test]
    fn only_a_wake_that_it_has_not_answered_yet_counts() {
        assert_eq!(wakes(|_| {}), [0, 1]);
        assert_eq!(wakes(Waker::wake_by_ref), [1, 2], "the body was not asked after it");
        let answered = |waker: &Waker| {
            waker.wake_by_ref();
            body_is_asked();
        };
        assert_eq!(wakes(answered), [0, 1]);
        let unanswered = |waker: &Waker| {
            body_is_asked();
            waker.wake_by_ref();
        };
        assert_eq!(wakes(unanswered), [1, 2]);
        let elsewhere = |waker: &Waker| {
            wake_elsewhere(waker);
            body_is_asked();
        };
        assert_eq!(wakes(elsewhere), [1, 1], "another thread is always heard, and once is enough until the next poll");
    }
}
