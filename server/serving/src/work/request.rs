//! Runs the work of a request.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use machinery::offload::{self, Polled};
use machinery::status::Status;
use request::user::SYSTEM_MASTERS;
use request::{BoxFuture, User};

use super::pool::pool;
use super::task::{Join, Task};

/// The seats of a request in priority and fairness; in the extensions of the request.
///
/// Seats limit the work on the threads of connections. A request releases them when its work moves to
/// the pool, which has its own limits. It also releases them while it waits for its body, so that slow
/// clients do not hold them.
#[derive(Clone)]
pub struct HeldSeat(Arc<dyn Seats>);

/// Seats that can be released and reacquired.
pub trait Seats: Send + Sync {
    /// Releases the seats, if they are held.
    fn give_back(&self);

    /// Reacquires the seats; returns `None` if they are held.
    ///
    /// # Errors
    /// 429 when no seats are available.
    fn take_again(&self) -> Option<BoxFuture<'_, Result<(), Status>>>;
}

impl HeldSeat {
    /// Holds the seats until all clones are dropped.
    pub fn new(seats: Arc<dyn Seats>) -> Self {
        HeldSeat(seats)
    }

    /// Waits for a client. Releases the seats when that takes longer than `grace`.
    pub async fn while_waiting<T>(&self, grace: Duration, waiting: impl Future<Output = T>) -> T {
        let mut waiting = pin!(waiting);
        // A zero grace period needs no timer.
        let in_time = match grace.is_zero() {
            true => poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context))).await,
            false => tokio::time::timeout(grace, waiting.as_mut()).await.map_or(Poll::Pending, Poll::Ready),
        };
        match in_time {
            Poll::Ready(done) => done,
            Poll::Pending => {
                self.0.give_back();
                waiting.await
            }
        }
    }

    /// Reacquires the seats, if they were released.
    ///
    /// # Errors
    /// 429 when no seats are available.
    pub async fn take_again(&self) -> Result<(), Status> {
        match self.0.take_again() {
            Some(taken) => taken.await,
            None => Ok(()),
        }
    }
}

/// The user and the seats of the work.
pub struct Work {
    pub user: Arc<User>,
    pub seat: Option<HeldSeat>,
}

/// Runs the work of a request: on this thread until it requests to move, then in the pool.
///
/// Dropping the returned future cancels the work.
pub fn run<T: Send + 'static>(work: &Work, future: BoxFuture<'static, T>) -> impl Future<Output = T> + Send {
    Running { work, state: State::Here(future) }
}

struct Running<'w, T: Send + 'static> {
    work: &'w Work,
    state: State<T>,
}

enum State<T> {
    Here(BoxFuture<'static, T>),
    InPool(Join<T>),
    Done,
}

impl<T: Send + 'static> Future for Running<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        let result = match &mut this.state {
            State::Here(future) => match offload::poll(future.as_mut(), context) {
                Polled::Here(polled) => ready!(polled),
                Polled::Move { .. } if !this.work.enter_pool() => {
                    ready!(offload::poll_refused(future.as_mut(), context))
                }
                Polled::Move { memory } => ready!(this.move_to_pool(memory, context)),
            },
            State::InPool(join) => ready!(join.poll(context)),
            State::Done => return Poll::Pending,
        };
        this.state = State::Done;
        Poll::Ready(result)
    }
}

impl<T: Send + 'static> Running<'_, T> {
    fn move_to_pool(&mut self, memory: u64, context: &mut Context<'_>) -> Poll<T> {
        let State::Here(future) = std::mem::replace(&mut self.state, State::Done) else { return Poll::Pending };
        if let Some(seat) = &self.work.seat {
            seat.0.give_back();
        }
        let mut join = Task::spawn(pool(), self.work.user.name.as_str().into(), future, memory);
        let polled = join.poll(context);
        self.state = State::InPool(join);
        polled
    }
}

impl Work {
    fn enter_pool(&self) -> bool {
        pool().enter(&self.user.name.as_str().into(), self.user.is_in(SYSTEM_MASTERS))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// Seats that are always available; true while they are held.
    struct TestSeats(AtomicBool);

    impl Seats for TestSeats {
        fn give_back(&self) {
            self.0.store(false, Ordering::Relaxed);
        }

        fn take_again(&self) -> Option<BoxFuture<'_, Result<(), Status>>> {
            self.0.store(true, Ordering::Relaxed);
            None
        }
    }

    impl TestSeats {
        fn held() -> Arc<Self> {
            Arc::new(TestSeats(true.into()))
        }

        fn is_held(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }

    fn work(user: &str) -> Work {
        Work { user: Arc::new(User::new(user, ["dev"])), seat: None }
    }

    fn thread() -> String {
        std::thread::current().name().unwrap_or_default().to_owned()
    }

    #[tokio::test]
    async fn work_moves_to_pool_and_releases_seat() {
        assert_ne!(run(&work("a"), Box::pin(async { thread() })).await, "work");
        let seat = TestSeats::held();
        let held = Work { seat: Some(HeldSeat::new(seat.clone())), ..work("a") };
        let moved = Box::pin(async move {
            offload::to_work_pool().await.unwrap();
            tokio::time::sleep(Duration::from_millis(1)).await;
            (thread(), seat.is_held())
        });
        let moved = run(&held, moved);
        assert_eq!(moved.await, ("work".to_owned(), false));
    }

    #[tokio::test(start_paused = true)]
    async fn releases_seat_while_waiting_for_client() {
        let seat = TestSeats::held();
        let held = HeldSeat::new(seat.clone());
        for (grace, wait, expect) in [(10, 0, true), (10, 9, true), (10, 11, false), (0, 0, true), (0, 1, false)] {
            let waiting = async {
                if wait > 0 {
                    tokio::time::sleep(Duration::from_millis(wait)).await;
                }
                7
            };
            assert_eq!(held.while_waiting(Duration::from_millis(grace), waiting).await, 7);
            assert_eq!(seat.is_held(), expect, "{wait} of {grace} ms");
            held.take_again().await.unwrap();
        }
    }

    #[tokio::test]
    async fn dropping_the_future_cancels_pooled_work() {
        let held = Arc::new(());
        let holds = held.clone();
        let endless = Box::pin(async move {
            offload::to_work_pool().await.unwrap();
            let _holds = holds;
            std::future::pending::<()>().await;
        });
        let work = work("a");
        let mut running = Box::pin(run(&work, endless));
        assert!(futures_util::poll!(&mut running).is_pending());
        drop(running);
        while Arc::strong_count(&held) > 1 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn panic_propagates_to_its_request() {
        let panics = Box::pin(async {
            offload::to_work_pool().await.unwrap();
            panic!("ouch")
        });
        assert!(tokio::spawn(async move { run::<()>(&work("a"), panics).await }).await.unwrap_err().is_panic());
        assert_eq!(run(&work("a"), Box::pin(async { 7 })).await, 7);
    }
}
