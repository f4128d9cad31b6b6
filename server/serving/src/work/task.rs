//! One task of the work pool.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::FutureExt;
use machinery::budget::Budget;
use request::BoxFuture;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::memory;
use super::pool::{Job, WorkPool};

const IDLE: u8 = 0;
const QUEUED: u8 = 1;
const RUNNING: u8 = 2;
/// Running, and woken meanwhile.
const WOKEN: u8 = 3;
const DONE: u8 = 4;

/// A future and its state in the pool.
pub(super) struct Task {
    future: Mutex<Option<BoxFuture<'static, ()>>>,
    state: AtomicU8,
    is_cancelled: AtomicBool,
    memory: u64,
    /// The budget that its decoders charge.
    budget: Arc<Budget>,
    user: Arc<str>,
    /// The runtime of the future's timers and connections.
    runtime: Handle,
    pool: &'static WorkPool,
}

impl Task {
    /// Queues a future of a user that is counted in; returns the handle of its result.
    pub fn spawn<T: Send + 'static>(
        pool: &'static WorkPool,
        user: Arc<str>,
        future: BoxFuture<'static, T>,
        memory: u64,
    ) -> Join<T> {
        let (sender, result) = oneshot::channel();
        // Catch a panic, and resume it where the request is awaited.
        let future = async move { drop(sender.send(AssertUnwindSafe(future).catch_unwind().await)) };
        let task = Arc::new(Task {
            future: Mutex::new(Some(Box::pin(future))),
            state: AtomicU8::new(QUEUED),
            is_cancelled: AtomicBool::new(false),
            memory,
            budget: memory::budget(),
            user,
            runtime: Handle::current(),
            pool,
        });
        pool.push(task.clone());
        Join { task, result }
    }

    fn cancel(self: &Arc<Self>) {
        self.is_cancelled.store(true, Ordering::Release);
        self.wake_by_ref();
    }
}

impl Job for Task {
    fn user(&self) -> &Arc<str> {
        &self.user
    }

    fn memory(&self) -> u64 {
        self.memory
    }

    /// Polls the future once.
    fn run(self: Arc<Self>) {
        self.state.store(RUNNING, Ordering::Release);
        let _entered = self.runtime.enter();
        let mut slot = self.future.lock().unwrap_or_else(PoisonError::into_inner);
        let is_cancelled = self.is_cancelled.load(Ordering::Acquire);
        let waker = Waker::from(self.clone());
        let polled = match slot.as_mut().filter(|_| !is_cancelled) {
            Some(future) => self.budget.scope(|| future.as_mut().poll(&mut Context::from_waker(&waker))),
            None => Poll::Ready(()),
        };
        if polled.is_ready() {
            *slot = None;
            drop(slot);
            return self.state.store(DONE, Ordering::Release);
        }
        drop(slot);
        if self.state.compare_exchange(RUNNING, IDLE, Ordering::AcqRel, Ordering::Acquire).is_err() {
            self.state.store(QUEUED, Ordering::Release);
            self.pool.push_started(self.clone());
        }
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let woken = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| match state {
            IDLE => Some(QUEUED),
            RUNNING => Some(WOKEN),
            _ => None,
        });
        if woken == Ok(IDLE) {
            self.pool.push_started(self.clone());
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.pool.leave(&self.user, self.memory);
    }
}

/// The handle of a task's result. Dropping it cancels the task.
pub(super) struct Join<T> {
    task: Arc<Task>,
    result: oneshot::Receiver<std::thread::Result<T>>,
}

impl<T> Join<T> {
    /// Polls for the result; resumes a panic of the task.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<T> {
        match std::task::ready!(Pin::new(&mut self.result).poll(context)) {
            Ok(Ok(result)) => Poll::Ready(result),
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => panic!("a task of the work pool ended without a result"),
        }
    }
}

impl<T> Drop for Join<T> {
    fn drop(&mut self) {
        self.task.cancel();
    }
}
