//! Moves the rest of a request's work from the threads of connections to the work pool.
//!
//! Code that is about to spend CPU time which a client controls (a large body, a program in CEL, a document
//! that is patched) awaits [`to_work_pool`] first. Within a request that an executor polls with [`poll`], the
//! rest of the request then runs in the pool. Anywhere else, and in the pool itself, it goes on at once. The
//! executor is above this crate (`serving::work`).

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::status::Status;

thread_local! {
    static PLACE: Cell<Place> = const { Cell::new(Place::Elsewhere) };
    /// Bytes of memory that the work takes which asks to be moved.
    static MEMORY: Cell<u64> = const { Cell::new(0) };
}

/// Where the future that this thread polls stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the work pool, in a test, at start-up: nothing moves.
    Elsewhere,
    /// On a thread that serves connections.
    Connection,
    /// The same, and the future has asked to be moved.
    Moving,
    /// The same, and the pool does not take it.
    Refused,
}

/// What became of a poll.
pub enum Polled<T> {
    /// The future is ready or waits, as usual.
    Here(Poll<T>),
    /// The future asks to be polled in the pool from now on.
    Move {
        /// How many bytes its work is expected to take.
        memory: u64,
    },
}

/// Restores the place when a poll ends, by a panic too.
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

/// Polls a future that may ask to be moved.
pub fn poll<T>(future: Pin<&mut (impl Future<Output = T> + ?Sized)>, context: &mut Context<'_>) -> Polled<T> {
    let _entered = Entered::new(Place::Connection);
    match future.poll(context) {
        Poll::Pending if PLACE.get() == Place::Moving => Polled::Move { memory: MEMORY.take() },
        polled => Polled::Here(polled),
    }
}

/// Polls a future whose wish to be moved was refused: [`to_work_pool`] gives the error.
pub fn poll_refused<T>(future: Pin<&mut (impl Future<Output = T> + ?Sized)>, context: &mut Context<'_>) -> Poll<T> {
    let _entered = Entered::new(Place::Refused);
    future.poll(context)
}

/// Moves the rest of the request's work to the work pool.
///
/// # Errors
/// 429 when the pool has too much to do. The caller gives it to the client.
pub async fn to_work_pool() -> Result<(), Status> {
    to_work_pool_with(0).await
}

/// The same for work that is expected to take this many bytes of memory: it begins when there is room for them.
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
            // The future may stand within a set of futures that polls only those that were woken.
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
    fn nothing_moves_outside_of_a_request() {
        let mut future = pin!(to_work_pool());
        assert!(matches!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(()))));
    }

    #[test]
    fn a_request_moves_once_or_learns_that_it_cannot() {
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
