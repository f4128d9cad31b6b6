//! Moves the remaining work of a request from connection threads to the work pool.
//!
//! Code awaits [`to_work_pool`] before it spends CPU time that a client controls (a large body, a
//! CEL expression, a patch). If an executor polls the request with [`poll`], the rest of the
//! request then runs in the pool. Anywhere else, and in the pool itself, it continues at once. The
//! executor is above this crate (`serving::work`).

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::status::Status;

thread_local! {
    static PLACE: Cell<Place> = const { Cell::new(Place::Elsewhere) };
    /// Expected bytes of memory of the work that is to be moved.
    static MEMORY: Cell<u64> = const { Cell::new(0) };
}

/// Where the current thread polls the future.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the work pool, in a test, or at start-up: work is not moved.
    Elsewhere,
    /// On a thread that serves connections.
    Connection,
    /// On a connection thread; the future has requested the move.
    Moving,
    /// On a connection thread; the pool has rejected the request.
    Refused,
}

/// The result of a poll.
pub enum Polled<T> {
    /// The future is ready or pending.
    Here(Poll<T>),
    /// The future must be polled in the pool from now on.
    Move {
        /// Expected bytes of memory of its work.
        memory: u64,
    },
}

/// Restores the previous place on drop, also after a panic.
struct Entered(Place);

impl Entered {
    fn new(place: Place) -> Self {
        Entered(PLACE.replace(place))
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        PLACE.set(self.0);
    }
}

/// Polls a future that may request the move.
pub fn poll<T>(future: Pin<&mut (impl Future<Output = T> + ?Sized)>, context: &mut Context<'_>) -> Polled<T> {
    let _entered = Entered::new(Place::Connection);
    match future.poll(context) {
        Poll::Pending if PLACE.get() == Place::Moving => Polled::Move { memory: MEMORY.take() },
        polled => Polled::Here(polled),
    }
}

/// Polls a future after the pool has rejected it: [`to_work_pool`] returns the error.
pub fn poll_refused<T>(future: Pin<&mut (impl Future<Output = T> + ?Sized)>, context: &mut Context<'_>) -> Poll<T> {
    let _entered = Entered::new(Place::Refused);
    future.poll(context)
}

/// Moves the remaining work of the request to the work pool.
///
/// # Errors
/// 429 when the pool is overloaded. The caller returns it to the client.
pub async fn to_work_pool() -> Result<(), Status> {
    to_work_pool_with(0).await
}

/// As [`to_work_pool`], for work that is expected to take this many bytes of memory: it starts once
/// they are available.
///
/// # Errors
/// As [`to_work_pool`].
pub async fn to_work_pool_with(memory: u64) -> Result<(), Status> {
    poll_fn(|context| match PLACE.get() {
        Place::Elsewhere => Poll::Ready(Ok(())),
        Place::Refused => Poll::Ready(Err(refused())),
        Place::Connection | Place::Moving => {
            PLACE.set(Place::Moving);
            MEMORY.set(memory);
            // The future may be part of a set of futures that polls only those that were woken.
            context.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await
}

fn refused() -> Status {
    Status::too_many_requests("too much expensive work is waiting, please try again later", 1)
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Waker;

    use super::*;

    #[test]
    fn work_outside_of_requests_is_not_moved() {
        let mut future = pin!(to_work_pool());
        assert!(matches!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(()))));
    }

    #[test]
    fn request_moves_once_or_gets_429() {
        let context = &mut Context::from_waker(Waker::noop());
        let work = || async { to_work_pool().await.map(|()| 7).map_err(|status| status.code) };
        let mut moved = Box::pin(work());
        assert!(matches!(poll(moved.as_mut(), context), Polled::Move { memory: 0 }));
        assert_eq!(moved.as_mut().poll(context), Poll::Ready(Ok(7)));
        let mut refused = Box::pin(work());
        assert!(matches!(poll(refused.as_mut(), context), Polled::Move { memory: 0 }));
        assert_eq!(poll_refused(refused.as_mut(), context), Poll::Ready(Err(429)));
    }
}
