//! The work of a request, where it begins and where it ends.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use machinery::offload::{self, Polled};

use super::pool::pool;
use super::task::{Join, Task};
use crate::handler::BoxFuture;
use crate::user::{SYSTEM_MASTERS, User};

/// The seats of a request in priority and fairness; in the extensions of the request. Given back when the work moves to the pool, which has
/// limits of its own: seats bound what is done by the threads of connections.
#[derive(Clone)]
pub struct HeldSeat(Arc<dyn Seat>);

/// What is given back once.
trait Seat: Send + Sync {
    fn give_back(&self);
}

impl<T: Send> Seat for Mutex<Option<T>> {
    fn give_back(&self) {
        drop(self.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl HeldSeat {
    /// Holds seats for as long as there is a clone of this.
    pub fn new(seat: impl Send + 'static) -> Self {
        HeldSeat(Arc::new(Mutex::new(Some(seat))))
    }
}

/// Whose work it is.
pub struct Work {
    pub user: Arc<User>,
    pub seat: Option<HeldSeat>,
}

/// Runs the work of a request: on this thread, and in the pool from where the work asks for that.
///
/// When the returned future is dropped, the work ends.
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
    use std::time::Duration;

    use super::*;

    fn work(user: &str) -> Work {
        Work { user: Arc::new(User::new(user, ["dev"])), seat: None }
    }

    fn thread() -> String {
        std::thread::current().name().unwrap_or_default().to_owned()
    }

    #[tokio::test]
    async fn work_moves_when_it_asks_to_and_gives_its_seat_back() {
        assert_ne!(run(&work("a"), Box::pin(async { thread() })).await, "work");
        let seat = Arc::new(());
        let held = Work { seat: Some(HeldSeat::new(seat.clone())), ..work("a") };
        let moved = Box::pin(async move {
            offload::to_work_pool().await.unwrap();
            tokio::time::sleep(Duration::from_millis(1)).await;
            (thread(), Arc::strong_count(&seat))
        });
        let moved = run(&held, moved);
        assert_eq!(moved.await, ("work".to_owned(), 1));
    }

    #[tokio::test]
    async fn work_in_the_pool_ends_with_its_client() {
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
    async fn a_panic_is_the_requests_own() {
        let panics = Box::pin(async {
            offload::to_work_pool().await.unwrap();
            panic!("ouch")
        });
        assert!(tokio::spawn(async move { run::<()>(&work("a"), panics).await }).await.unwrap_err().is_panic());
        assert_eq!(run(&work("a"), Box::pin(async { 7 })).await, 7);
    }
}
