//! A queue of keys to work on (upstream: `workqueue.TypedRateLimitingInterface`).
//!
//! A key that is added several times before its work begins is worked on once. A key that is added
//! during its work is worked on again afterwards. No key is worked on twice at a time. The number of
//! queued keys is thus limited by the number of objects.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use machinery::status::Status;
use telemetry::metrics::{Waiting, WorkQueue, Working};
use tokio::sync::Notify;
use tokio::time::Instant;

/// The first and the longest delay of a key whose work failed
/// (`DefaultTypedControllerRateLimiter`).
const FIRST_DELAY: Duration = Duration::from_millis(5);
const LONGEST_DELAY: Duration = Duration::from_secs(1000);
/// The number of failures after which a warning is logged. Conflicts with other writers are usual.
const QUIET_FAILURES: u32 = 5;

/// What follows the work on a key.
pub enum Next {
    /// The key waits for its next change.
    Done,
    /// The work has to be repeated after this time, unless the key changes before.
    After(Duration),
    /// The work has to be repeated. The time grows with each repetition, up to this limit.
    Backoff(Duration),
}

/// A queue of keys to work on.
pub struct Queue<K> {
    state: Mutex<State<K>>,
    changed: Notify,
}

struct State<K> {
    ready: VecDeque<K>,
    /// The keys of `ready`, and those to work on again.
    dirty: HashMap<K, Option<Waiting>>,
    running: HashMap<K, Option<Working>>,
    /// Keys by the time at which they become ready. The number makes keys of equal times distinct.
    later: BTreeMap<(Instant, u64), K>,
    /// The place of each key in `later`.
    places: HashMap<K, (Instant, u64)>,
    /// Number of consecutive failures.
    failures: HashMap<K, u32>,
    added: u64,
    metrics: Option<WorkQueue>,
}

impl<K: Clone + Eq + Hash> Default for Queue<K> {
    fn default() -> Self {
        Self::new(None)
    }
}

impl<K: Clone + Eq + Hash> Queue<K> {
    /// Creates an empty queue. `metrics` is `None` for a queue that is not measured.
    pub fn new(metrics: Option<WorkQueue>) -> Self {
        let state = State {
            ready: VecDeque::new(),
            dirty: HashMap::new(),
            running: HashMap::new(),
            later: BTreeMap::new(),
            places: HashMap::new(),
            failures: HashMap::new(),
            added: 0,
            metrics,
        };
        Queue { state: Mutex::new(state), changed: Notify::new() }
    }

    /// Adds a key to work on now.
    pub fn add(&self, key: K) {
        self.lock().make_ready(key);
        self.changed.notify_one();
    }

    /// Adds a key to work on after a delay. An earlier time for the key stays.
    pub fn add_after(&self, key: K, delay: Duration) {
        if delay.is_zero() {
            return self.add(key);
        }
        self.lock().make_ready_at(key, Instant::now() + delay);
        self.changed.notify_one();
    }

    /// Removes and returns the keys that are ready.
    #[cfg(test)]
    pub fn take_ready(&self) -> Vec<K> {
        let mut state = self.lock();
        state.dirty.clear();
        state.ready.drain(..).collect()
    }

    /// Works on keys, several at a time. Never returns; the caller drops the future to stop.
    pub async fn work<F>(&self, what: &'static str, workers: usize, sync: impl Fn(K) -> F)
    where
        F: Future<Output = Result<Next, Status>>,
    {
        let worker = async || {
            loop {
                let key = self.next().await;
                let result = sync(key.clone()).await;
                self.done(key, result, what);
            }
        };
        join_all((0..workers).map(|_| worker())).await;
    }

    /// Waits for a key.
    async fn next(&self) -> K {
        loop {
            let changed = self.changed.notified();
            let earliest = {
                let mut state = self.lock();
                state.promote(Instant::now());
                if let Some(key) = state.ready.pop_front() {
                    let waiting = state.dirty.remove(&key).flatten();
                    state.running.insert(key.clone(), waiting.map(Waiting::begin));
                    if !state.ready.is_empty() {
                        self.changed.notify_one();
                    }
                    return key;
                }
                state.later.first_key_value().map(|((at, _), _)| *at)
            };
            match earliest {
                Some(at) => drop(tokio::time::timeout_at(at, changed).await),
                None => changed.await,
            }
        }
    }

    fn done(&self, key: K, result: Result<Next, Status>, what: &str) {
        let mut state = self.lock();
        state.running.remove(&key);
        let is_dirty = state.dirty.contains_key(&key);
        if is_dirty {
            state.ready.push_back(key.clone());
        }
        match result {
            Ok(Next::Done) => drop(state.failures.remove(&key)),
            Ok(Next::After(delay)) => {
                state.failures.remove(&key);
                state.make_ready_at(key, Instant::now() + delay);
            }
            Ok(Next::Backoff(longest)) => {
                let (delay, _) = state.count_failure(&key);
                state.make_ready_at(key, Instant::now() + delay.min(longest));
            }
            Err(status) => {
                let (delay, failures) = state.count_failure(&key);
                if failures > QUIET_FAILURES {
                    tracing::warn!(controller = what, why = status.message, failures, "a controller failed; retrying");
                }
                state.make_ready_at(key, Instant::now() + delay);
            }
        }
        drop(state);
        self.changed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Clone + Eq + Hash> State<K> {
    fn make_ready(&mut self, key: K) {
        if self.dirty.contains_key(&key) {
            return;
        }
        self.dirty.insert(key.clone(), self.metrics.as_ref().map(WorkQueue::add));
        if !self.running.contains_key(&key) {
            self.ready.push_back(key);
        }
    }

    fn make_ready_at(&mut self, key: K, at: Instant) {
        if let Some(place) = self.places.get(&key).copied() {
            if place.0 <= at {
                return;
            }
            self.later.remove(&place);
        }
        self.added += 1;
        let place = (at, self.added);
        self.later.insert(place, key.clone());
        self.places.insert(key, place);
    }

    /// Makes the keys ready whose time has come.
    fn promote(&mut self, now: Instant) {
        while let Some(first) = self.later.first_entry().filter(|first| first.key().0 <= now) {
            let key = first.remove();
            self.places.remove(&key);
            self.make_ready(key);
        }
    }

    /// Returns the delay after a further failure, and the number of failures.
    fn count_failure(&mut self, key: &K) -> (Duration, u32) {
        self.metrics.iter().for_each(WorkQueue::failed);
        let failures = self.failures.entry(key.clone()).or_insert(0);
        let delay = FIRST_DELAY.saturating_mul(1u32.checked_shl(*failures).unwrap_or(u32::MAX));
        *failures = failures.saturating_add(1).min(31);
        (delay.min(LONGEST_DELAY), *failures)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Works until the queue is idle for an hour; returns the keys with their times.
    async fn worked(
        queue: &Queue<&'static str>,
        sync: impl AsyncFn(&'static str) -> Result<Next, Status>,
    ) -> Vec<(&'static str, u128)> {
        let (begin, seen) = (Instant::now(), RefCell::new(Vec::new()));
        let work = queue.work("test", 2, async |key| {
            seen.borrow_mut().push((key, begin.elapsed().as_millis()));
            sync(key).await
        });
        let _ = tokio::time::timeout(Duration::from_secs(3600), work).await;
        seen.into_inner()
    }

    #[tokio::test(start_paused = true)]
    async fn works_once_on_a_key_that_was_added_twice() {
        let queue = Queue::default();
        ["a", "b", "a"].into_iter().for_each(|key| queue.add(key));
        assert_eq!(worked(&queue, async |_| Ok(Next::Done)).await, [("a", 0), ("b", 0)]);
    }

    #[tokio::test(start_paused = true)]
    async fn works_again_on_a_key_that_changed_meanwhile_but_not_at_the_same_time() {
        let (queue, running, works) = (Queue::default(), RefCell::new(0), RefCell::new(0));
        queue.add("a");
        let sync = async |key| {
            assert_eq!(running.replace(1), 0, "two workers have the key");
            *works.borrow_mut() += 1;
            if *works.borrow() == 1 {
                queue.add(key);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
            running.replace(0);
            Ok(Next::Done)
        };
        let seen = worked(&queue, sync).await;
        assert_eq!(seen.len(), 2);
        assert!(seen[1].1 >= 10, "{seen:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn delays_grow_with_failures_up_to_a_limit() {
        let (queue, times) = (Queue::default(), RefCell::new(0));
        queue.add("a");
        let sync = async |_| {
            *times.borrow_mut() += 1;
            if *times.borrow() < 5 { Err(Status::internal("no")) } else { Ok(Next::Done) }
        };
        let seen: Vec<_> = worked(&queue, sync).await.into_iter().map(|(_, at)| at).collect();
        // Timers round up to milliseconds.
        assert_eq!(seen.len(), 5);
        assert!(seen.is_sorted() && seen[4] >= 75 && seen[4] < 85, "{seen:?}");
        assert!(queue.lock().failures.is_empty());
        let mut state = queue.lock();
        let longest = (0..60).map(|_| state.count_failure(&"b").0).max();
        assert_eq!(longest, Some(LONGEST_DELAY));
    }

    #[tokio::test(start_paused = true)]
    async fn the_earliest_of_several_delays_counts() {
        let queue = Queue::default();
        for delay in [3000, 1000, 2000] {
            queue.add_after("a", Duration::from_millis(delay));
        }
        let seen = worked(&queue, async |_| Ok(Next::Done)).await;
        assert_eq!(seen.len(), 1);
        assert!((1000..1010).contains(&seen[0].1), "{seen:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn metrics_count_keys_failures_and_work() {
        let metrics = telemetry::metrics::Metrics::default();
        let (queue, works) = (Queue::new(Some(metrics.work_queue("q"))), RefCell::new(0));
        ["a", "b", "a"].into_iter().for_each(|key| queue.add(key));
        let value = |name: &str| {
            let families = metrics.registry().gather();
            let family = families.iter().find(|family| family.name() == name).unwrap();
            let metric = &family.get_metric()[0];
            metric.get_counter().get_value()
                + metric.get_gauge().get_value()
                + metric.get_histogram().get_sample_count() as f64
        };
        assert_eq!((value("workqueue_adds_total"), value("workqueue_depth")), (2.0, 2.0));
        let sync = async |_| {
            *works.borrow_mut() += 1;
            if *works.borrow() == 1 { Err(Status::internal("no")) } else { Ok(Next::Done) }
        };
        assert_eq!(worked(&queue, sync).await.len(), 3);
        assert_eq!((value("workqueue_adds_total"), value("workqueue_depth")), (3.0, 0.0));
        assert_eq!((value("workqueue_retries_total"), value("workqueue_work_duration_seconds")), (1.0, 3.0));
    }
}
