//! The threads of the work pool.

use std::cell::RefCell;
use std::num::NonZero;
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;

use prometheus::{IntCounter, IntGauge, Registry};

use super::memory;
use super::queue::{PoolLimits, TaskQueue};

/// The niceness of the threads relative to those of connections.
const NICE: i32 = 5;
/// The maximum number of requests in the pool. Their bodies are accounted for separately.
const REQUESTS: usize = 1024;
const REQUESTS_PER_USER: usize = 256;
/// The maximum number of threads, including blocked ones.
const MAX_THREADS: usize = 128;

thread_local! {
    /// The user of the task that this thread runs.
    static CURRENT_USER: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// What a thread of the pool runs.
pub(super) trait Job: Send + Sync {
    fn user(&self) -> &Arc<str>;

    /// The expected memory of the work, in bytes.
    fn memory(&self) -> u64;

    fn run(self: Arc<Self>);
}

/// The pool of the process.
static POOL: LazyLock<WorkPool> = LazyLock::new(|| {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    WorkPool::new(PoolLimits {
        // One user has at most one thread per processor; two threads remain for others.
        threads: processors + 2,
        threads_per_user: processors,
        requests: REQUESTS,
        requests_per_user: REQUESTS_PER_USER,
        memory: memory::decoded_limit(),
    })
});

pub(super) fn pool() -> &'static WorkPool {
    &POOL
}

/// Threads that poll tasks.
pub(super) struct WorkPool {
    state: Mutex<State>,
    has_work: Condvar,
    metrics: Metrics,
}

struct State {
    queue: TaskQueue<Arc<dyn Job>>,
    threads: usize,
    /// Threads that wait for something outside of the pool.
    blocked: usize,
}

/// The metrics of the pool.
struct Metrics {
    requests: IntGauge,
    running: IntGauge,
    refused: IntCounter,
}

impl WorkPool {
    pub fn new(limits: PoolLimits) -> Self {
        let gauge = |name, help| IntGauge::new(name, help).expect("a well-formed metric");
        let refused = "apiserver_work_pool_rejected_requests_total";
        WorkPool {
            state: Mutex::new(State { queue: TaskQueue::new(limits), threads: 0, blocked: 0 }),
            has_work: Condvar::new(),
            metrics: Metrics {
                requests: gauge(
                    "apiserver_work_pool_requests",
                    "Number of requests in the work pool, waiting ones included.",
                ),
                running: gauge("apiserver_work_pool_running_threads", "Number of running threads of the work pool."),
                refused: IntCounter::new(refused, "Number of requests rejected by the work pool.")
                    .expect("a well-formed metric"),
            },
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request in; returns false if it is rejected.
    pub fn enter(&self, user: &Arc<str>, unlimited: bool) -> bool {
        let mut state = self.state();
        let entered = state.queue.enter(user, unlimited);
        if !entered {
            self.metrics.refused.inc();
        }
        self.count(&state);
        entered
    }

    /// Counts a request out; `memory` is the expected memory of its work.
    pub fn leave(&self, user: &Arc<str>, memory: u64) {
        let mut state = self.state();
        state.queue.leave(user, memory);
        self.count(&state);
        drop(state);
        self.has_work.notify_one();
    }

    /// Queues a task that has not started.
    pub fn push(&'static self, task: Arc<dyn Job>) {
        let mut state = self.state();
        let (user, memory) = (task.user().clone(), task.memory());
        state.queue.push(&user, task, memory);
        self.wake_a_thread(state);
    }

    /// Queues a started task that was woken.
    pub fn push_started(&'static self, task: Arc<dyn Job>) {
        let mut state = self.state();
        let user = task.user().clone();
        state.queue.push_started(&user, task);
        self.wake_a_thread(state);
    }

    /// Wakes an idle thread, or starts one if fewer than the limit run.
    fn wake_a_thread(&'static self, mut state: MutexGuard<'_, State>) {
        let working = state.threads - state.blocked;
        if working < state.queue.threads() && state.threads < MAX_THREADS {
            state.threads += 1;
            drop(state);
            let started = thread::Builder::new().name("work".into()).spawn(|| self.serve());
            if let Err(error) = started {
                tracing::error!(%error, "cannot start a thread of the work pool");
                self.state().threads -= 1;
            }
        } else {
            drop(state);
        }
        self.has_work.notify_one();
    }

    fn serve(&'static self) {
        if let Err(error) = rustix::process::setpriority_process(None, NICE) {
            tracing::debug!(%error, "cannot set the priority of a thread of the work pool");
        }
        let mut state = self.state();
        loop {
            let Some(task) = state.queue.pop() else {
                state = self.has_work.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            self.count(&state);
            drop(state);
            let user = task.user().clone();
            CURRENT_USER.set(Some(user.clone()));
            task.run();
            state = self.state();
            state.queue.stopped(&user);
            self.count(&state);
        }
    }

    fn count(&self, state: &State) {
        let (requests, running) = state.queue.counts();
        self.metrics.requests.set(requests as i64);
        self.metrics.running.set(running as i64);
    }
}

/// Counts a thread of the pool as blocked until it is dropped.
struct Blocked(Arc<str>);

impl Blocked {
    fn new(user: Arc<str>) -> Self {
        let mut state = POOL.state();
        state.queue.stopped(&user);
        state.blocked += 1;
        POOL.wake_a_thread(state);
        Blocked(user)
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        let mut state = POOL.state();
        state.queue.resumed(&self.0);
        state.blocked -= 1;
    }
}

/// Runs code that blocks the thread, such as a call of another server from synchronous code.
/// Another thread of the pool replaces this one meanwhile.
pub fn blocking<R>(work: impl FnOnce() -> R) -> R {
    match CURRENT_USER.with_borrow(Clone::clone) {
        Some(user) => {
            let _blocked = Blocked::new(user);
            work()
        }
        None => tokio::task::block_in_place(work),
    }
}

/// Registers the metrics of the pool.
pub fn register(registry: &Registry) {
    let Metrics { requests, running, refused } = &POOL.metrics;
    // Registration fails only for duplicate names.
    let _ = registry.register(Box::new(requests.clone()));
    let _ = registry.register(Box::new(running.clone()));
    let _ = registry.register(Box::new(refused.clone()));
}
