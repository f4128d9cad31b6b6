//! A turn of a connection, in which its streams speak before it writes.
//!
//! While they speak they wake the connection: `h2` for each frame that it is handed, and `FuturesUnordered` when it has polled as many streams as
//! there are, be it one. Neither is worth a turn more, at which nothing would be found, nor another worker that is woken to take
//! it: the connection is polled after its streams anyway, and whether they have more to say is asked at once.

use std::cell::Cell;
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use futures_util::task::AtomicWaker;

/// How often streams are polled in a turn, before others have theirs.
const MOST_ROUNDS: usize = 4;

thread_local! {
    /// The connection whose streams this thread is polling, and whether it has been woken by that.
    static SPEAKING: Cell<*const Ear> = const { Cell::new(ptr::null()) };
    static IS_WOKEN: Cell<bool> = const { Cell::new(false) };
}

/// Where a connection and its streams hear of what they have to do.
pub(super) struct Turn {
    ear: Arc<Ear>,
    waker: Waker,
}

#[derive(Default)]
struct Ear(AtomicWaker);

impl Wake for Ear {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        match ptr::eq(SPEAKING.get(), Arc::as_ptr(self)) {
            true => IS_WOKEN.set(true),
            false => self.0.wake(),
        }
    }
}

impl Turn {
    pub fn new() -> Self {
        let ear = Arc::new(Ear::default());
        Turn { waker: Waker::from(ear.clone()), ear }
    }

    /// Lets the streams speak until they have nothing more to say, then polls the connection, which finds what they said.
    pub fn take<T>(
        &self,
        context: &Context<'_>,
        mut streams: impl FnMut(&mut Context<'_>),
        connection: impl FnOnce(&mut Context<'_>) -> T,
    ) -> T {
        self.ear.0.register(context.waker());
        let mut own = Context::from_waker(&self.waker);
        SPEAKING.set(Arc::as_ptr(&self.ear));
        for _ in 0..MOST_ROUNDS {
            IS_WOKEN.set(false);
            streams(&mut own);
            if !IS_WOKEN.get() {
                break;
            }
        }
        SPEAKING.set(ptr::null());
        if IS_WOKEN.get() {
            context.waker().wake_by_ref();
        }
        connection(&mut own)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How often streams that do this are polled in a turn, and how often the task is woken for it.
    fn turn(streams: impl Fn(usize, &Waker), connection: impl FnOnce(&Waker)) -> (usize, usize) {
        let (heard, turn, mut rounds) = (Arc::new(Wakes::default()), Turn::new(), 0);
        let task = Waker::from(heard.clone());
        let streams = |context: &mut Context<'_>| {
            rounds += 1;
            streams(rounds, context.waker());
        };
        turn.take(&Context::from_waker(&task), streams, |context| connection(context.waker()));
        (rounds, heard.0.load(Ordering::Relaxed))
    }

    #[test]
    fn who_is_woken_by_its_own_streams_asks_them_again_at_once() {
        assert_eq!(turn(|_, _| {}, |_| {}), (1, 0));
        let twice = |round, waker: &Waker| {
            if round < 3 {
                waker.wake_by_ref();
            }
        };
        assert_eq!(turn(twice, |_| {}), (3, 0));
        assert_eq!(turn(|_, waker| waker.wake_by_ref(), |_| {}), (MOST_ROUNDS, 1), "others have their turn, too");
    }

    #[test]
    fn any_other_wake_is_heard() {
        assert_eq!(turn(|_, _| {}, Waker::wake_by_ref), (1, 1), "by the connection");
        let elsewhere = |_, waker: &Waker| std::thread::scope(|scope| drop(scope.spawn(|| waker.wake_by_ref())));
        assert_eq!(turn(elsewhere, |_| {}), (1, 1), "by another thread");
        let (heard, turn, mut kept) = (Arc::new(Wakes::default()), Turn::new(), None);
        let task = Waker::from(heard.clone());
        turn.take(&Context::from_waker(&task), |context| kept = Some(context.waker().clone()), |_| {});
        kept.unwrap().wake();
        assert_eq!(heard.0.load(Ordering::Relaxed), 1, "after the turn");
    }
}
