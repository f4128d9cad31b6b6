//! A waker that tells wakes from within a poll from all others.
//!
//! What is polled often wakes itself, or is woken by what it polls: `h2` does so for each frame that it is handed. A task that is woken while it
//! runs is polled once more, and another worker is woken to take it. Whoever polls with an ear decides what such a wake is worth.

use std::cell::RefCell;
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use futures_util::task::AtomicWaker;

thread_local! {
    /// What this thread is polling, the innermost last.
    static POLLED: RefCell<Vec<Polled>> = const { RefCell::new(Vec::new()) };
}

struct Polled {
    home: *const Home,
    is_woken: bool,
}

/// Where something that is polled hears of what it has to do.
pub(super) struct SelfWakeTracker {
    home: Arc<Home>,
    waker: Waker,
}

/// Where wakes go.
#[derive(Default)]
struct Home(AtomicWaker);

impl Wake for Home {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let is_meant = |polled: &&mut Polled| ptr::eq(polled.home, Arc::as_ptr(self));
        let note = |polled: &RefCell<Vec<Polled>>| match polled.borrow_mut().iter_mut().find(is_meant) {
            Some(polled) => {
                polled.is_woken = true;
                true
            }
            None => false,
        };
        // A thread that is ending polls nothing.
        if !POLLED.try_with(note).unwrap_or_default() {
            self.0.wake();
        }
    }
}

/// Says that what was noted of the innermost poll has been answered by it.
pub(crate) fn forget_wakes() {
    POLLED.with_borrow_mut(|polled| polled.iter_mut().next_back().into_iter().for_each(|last| last.is_woken = false));
}

impl SelfWakeTracker {
    pub fn new() -> Self {
        let home = Arc::new(Home::default());
        SelfWakeTracker { waker: Waker::from(home.clone()), home }
    }

    /// What is polled with it is heard like anything else.
    pub fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Polls something, and says whether it was woken from within. All other wakes go to the task.
    pub fn poll<T>(&self, context: &Context<'_>, f: impl FnOnce(&mut Context<'_>) -> T) -> (T, bool) {
        self.home.0.register(context.waker());
        let polling = Polling::begin(&self.home);
        let polled = f(&mut Context::from_waker(&self.waker));
        (polled, polling.is_woken())
    }
}

/// Lasts as long as a poll, even of what panics.
struct Polling;

impl Polling {
    fn begin(home: &Arc<Home>) -> Self {
        POLLED.with_borrow_mut(|polled| polled.push(Polled { home: Arc::as_ptr(home), is_woken: false }));
        Polling
    }

    fn is_woken(&self) -> bool {
        POLLED.with_borrow(|polled| polled.last().is_some_and(|last| last.is_woken))
    }
}

impl Drop for Polling {
    fn drop(&mut self) {
        POLLED.with_borrow_mut(Vec::pop);
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

    /// Whether a poll that does this is said to be woken from within, and how often its task is woken.
    fn heard(poll: impl FnOnce(&Waker)) -> (bool, usize) {
        let wakes = Arc::new(Wakes::default());
        let ((), is_woken) =
            SelfWakeTracker::new().poll(&Context::from_waker(&wakes.clone().into()), |own| poll(own.waker()));
        (is_woken, wakes.count())
    }

    #[test]
    fn wakes_from_within_are_noted_and_all_others_heard() {
        assert_eq!(heard(|_| {}), (false, 0));
        assert_eq!(heard(Waker::wake_by_ref), (true, 0));
        assert_eq!(heard(wake_elsewhere), (false, 1));
        let answered = |waker: &Waker| {
            waker.wake_by_ref();
            forget_wakes();
        };
        assert_eq!(heard(answered), (false, 0));
        let (wakes, ear) = (Arc::new(Wakes::default()), SelfWakeTracker::new());
        ear.poll(&Context::from_waker(&wakes.clone().into()), |_| {});
        ear.waker().wake_by_ref();
        assert_eq!(wakes.count(), 1, "after the poll");
    }

    #[test]
    fn polls_within_polls_are_told_apart() {
        let (outer, inner, task) =
            (SelfWakeTracker::new(), SelfWakeTracker::new(), Waker::from(Arc::new(Wakes::default())));
        let context = Context::from_waker(&task);
        let nested = |woken: [bool; 2]| {
            outer.poll(&context, |own| {
                let ((), is_woken) = inner.poll(own, |_| {
                    let ears = [&outer, &inner];
                    ears.iter().zip(woken).filter(|(_, woken)| *woken).for_each(|(ear, _)| ear.waker().wake_by_ref());
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
    fn a_poll_that_panics_is_over() {
        let (wakes, ear) = (Arc::new(Wakes::default()), SelfWakeTracker::new());
        let task = Waker::from(wakes.clone());
        let poll = || ear.poll(&Context::from_waker(&task), |_| panic!("in a poll"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(poll)).is_err());
        ear.waker().wake_by_ref();
        assert_eq!(wakes.count(), 1);
    }
}
