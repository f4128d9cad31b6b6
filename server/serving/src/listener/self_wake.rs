//! A waker that distinguishes wakes during the poll from others.
//!
//! A future often wakes itself, or is woken by what it polls: `h2` does so for each frame. A task
//! that is woken while it runs is polled once more, and another worker is woken to steal it. With
//! this tracker, the caller of the poll decides how to handle such a wake.

use std::cell::RefCell;
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use futures_util::task::AtomicWaker;

thread_local! {
    /// The active polls of this thread, the innermost last.
    static ACTIVE_POLLS: RefCell<Vec<ActivePoll>> = const { RefCell::new(Vec::new()) };
}

struct ActivePoll {
    task_waker: *const TaskWaker,
    is_woken: bool,
}

/// Polls a future and tracks whether it was woken during the poll.
pub(super) struct SelfWakeTracker {
    task_waker: Arc<TaskWaker>,
    waker: Waker,
}

/// The waker of the task that polls.
#[derive(Default)]
struct TaskWaker(AtomicWaker);

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let is_same = |polled: &&mut ActivePoll| ptr::eq(polled.task_waker, Arc::as_ptr(self));
        let record = |polled: &RefCell<Vec<ActivePoll>>| match polled.borrow_mut().iter_mut().find(is_same) {
            Some(polled) => {
                polled.is_woken = true;
                true
            }
            None => false,
        };
        // A thread in destruction polls nothing.
        if !ACTIVE_POLLS.try_with(record).unwrap_or_default() {
            self.0.wake();
        }
    }
}

/// Discards the wakes recorded for the innermost poll, because that poll has handled them.
pub(crate) fn clear_self_wakes() {
    ACTIVE_POLLS
        .with_borrow_mut(|polled| polled.iter_mut().next_back().into_iter().for_each(|last| last.is_woken = false));
}

impl SelfWakeTracker {
    pub fn new() -> Self {
        let task_waker = Arc::new(TaskWaker::default());
        SelfWakeTracker { waker: Waker::from(task_waker.clone()), task_waker }
    }

    /// Polls, and returns whether the task was woken during the poll. All other wakes go to the
    /// task.
    pub fn poll<T>(&self, context: &Context<'_>, f: impl FnOnce(&mut Context<'_>) -> T) -> (T, bool) {
        self.task_waker.0.register(context.waker());
        let polling = PollGuard::begin(&self.task_waker);
        let polled = f(&mut Context::from_waker(&self.waker));
        (polled, polling.is_woken())
    }
}

/// Guards an active poll, including one that panics.
struct PollGuard;

impl PollGuard {
    fn begin(task_waker: &Arc<TaskWaker>) -> Self {
        ACTIVE_POLLS
            .with_borrow_mut(|polled| polled.push(ActivePoll { task_waker: Arc::as_ptr(task_waker), is_woken: false }));
        PollGuard
    }

    fn is_woken(&self) -> bool {
        ACTIVE_POLLS.with_borrow(|polled| polled.last().is_some_and(|last| last.is_woken))
    }
}

impl Drop for PollGuard {
    fn drop(&mut self) {
        ACTIVE_POLLS.with_borrow_mut(Vec::pop);
    }
}

#[cfg(test)]
pub(super) mod testing {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A task that counts how often it is woken.
    #[derive(Default)]
    pub struct Wakes(AtomicUsize);

    impl Wakes {
        pub fn count(&self) -> usize {
            self.0.load(Ordering::Relaxed)
        }
    }

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Wakes from another thread, and waits until that is done.
    pub fn wake_elsewhere(waker: &Waker) {
        std::thread::scope(|scope| drop(scope.spawn(|| waker.wake_by_ref())));
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{Wakes, wake_elsewhere};
    use super::*;

    /// Whether a poll with this behaviour counts as self-woken, and how often its task is woken.
    fn self_wakes(poll: impl FnOnce(&Waker)) -> (bool, usize) {
        let wakes = Arc::new(Wakes::default());
        let ((), is_woken) =
            SelfWakeTracker::new().poll(&Context::from_waker(&wakes.clone().into()), |own| poll(own.waker()));
        (is_woken, wakes.count())
    }

    #[test]
    fn self_wakes_are_recorded_and_others_reach_the_task() {
        assert_eq!(self_wakes(|_| {}), (false, 0));
        assert_eq!(self_wakes(Waker::wake_by_ref), (true, 0));
        assert_eq!(self_wakes(wake_elsewhere), (false, 1));
        let cleared = |waker: &Waker| {
            waker.wake_by_ref();
            clear_self_wakes();
        };
        assert_eq!(self_wakes(cleared), (false, 0));
        let (wakes, tracker) = (Arc::new(Wakes::default()), SelfWakeTracker::new());
        tracker.poll(&Context::from_waker(&wakes.clone().into()), |_| {});
        tracker.waker.wake_by_ref();
        assert_eq!(wakes.count(), 1, "after the poll");
    }

    #[test]
    fn nested_polls_are_distinguished() {
        let (outer, inner, task) =
            (SelfWakeTracker::new(), SelfWakeTracker::new(), Waker::from(Arc::new(Wakes::default())));
        let context = Context::from_waker(&task);
        let nested = |woken: [bool; 2]| {
            outer.poll(&context, |own| {
                let ((), is_woken) = inner.poll(own, |_| {
                    let trackers = [&outer, &inner];
                    trackers
                        .iter()
                        .zip(woken)
                        .filter(|(_, woken)| *woken)
                        .for_each(|(tracker, _)| tracker.waker.wake_by_ref());
                });
                is_woken
            })
        };
        for woken in [[false, false], [false, true], [true, false], [true, true]] {
            let (inner, outer) = nested(woken);
            assert_eq!([outer, inner], woken);
        }
    }

    #[test]
    fn panicking_poll_ends() {
        let (wakes, tracker) = (Arc::new(Wakes::default()), SelfWakeTracker::new());
        let task = Waker::from(wakes.clone());
        let poll = || tracker.poll(&Context::from_waker(&task), |_| panic!("in a poll"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(poll)).is_err());
        tracker.waker.wake_by_ref();
        assert_eq!(wakes.count(), 1);
    }
}
