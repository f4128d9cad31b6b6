//! What waits for a thread of the work pool, fair between users.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Limits of a pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Threads that run at a time.
    pub threads: usize,
    /// Threads that one user has at a time.
    pub threads_per_user: usize,
    /// Requests that are in the pool at a time.
    pub requests: usize,
    /// Requests of one user that are in the pool at a time.
    pub requests_per_user: usize,
}

/// Requests of all users. `T` is a task; it is queued each time that it can go on.
pub(super) struct Queue<T> {
    limits: Limits,
    users: HashMap<Arc<str>, User<T>>,
    /// Users with queued tasks, in the order in which they are served.
    turns: VecDeque<Arc<str>>,
    /// Requests in the pool, whether they are queued, running or waiting for something.
    requests: usize,
    running: usize,
}

struct User<T> {
    /// Tasks that have begun: these hold what they have decoded.
    begun: VecDeque<T>,
    fresh: VecDeque<T>,
    running: usize,
    requests: usize,
}

impl<T> User<T> {
    fn has_queued(&self) -> bool {
        !self.begun.is_empty() || !self.fresh.is_empty()
    }
}

impl<T> Default for User<T> {
    fn default() -> Self {
        User { begun: VecDeque::new(), fresh: VecDeque::new(), running: 0, requests: 0 }
    }
}

impl<T> Queue<T> {
    pub fn new(limits: Limits) -> Self {
        Queue { limits, users: HashMap::new(), turns: VecDeque::new(), requests: 0, running: 0 }
    }

    /// Counts a request in; false when there are too many. A user for whom `unlimited` holds is never refused.
    pub fn enter(&mut self, user: &Arc<str>, unlimited: bool) -> bool {
        let of_user = self.users.get(user).map_or(0, |of_user| of_user.requests);
        if !unlimited && (self.requests >= self.limits.requests || of_user >= self.limits.requests_per_user) {
            return false;
        }
        self.requests += 1;
        self.users.entry(user.clone()).or_default().requests += 1;
        true
    }

    /// Counts a request out.
    pub fn leave(&mut self, user: &Arc<str>) {
        self.requests = self.requests.saturating_sub(1);
        if let Some(of_user) = self.users.get_mut(user) {
            of_user.requests = of_user.requests.saturating_sub(1);
            if of_user.requests == 0 && of_user.running == 0 && !of_user.has_queued() {
                self.users.remove(user);
            }
        }
    }

    /// Queues a task of a user.
    pub fn push(&mut self, user: &Arc<str>, task: T, has_begun: bool) {
        let of_user = self.users.entry(user.clone()).or_default();
        if !of_user.has_queued() {
            self.turns.push_back(user.clone());
        }
        if has_begun { of_user.begun.push_back(task) } else { of_user.fresh.push_back(task) }
    }

    /// The next task to run, with a thread counted as running it; nothing when none may run now.
    pub fn pop(&mut self) -> Option<T> {
        if self.running >= self.limits.threads {
            return None;
        }
        for _ in 0..self.turns.len() {
            let name = self.turns.pop_front()?;
            let Some(user) = self.users.get_mut(&name) else { continue };
            if user.running >= self.limits.threads_per_user {
                self.turns.push_back(name);
                continue;
            }
            let task = user.begun.pop_front().or_else(|| user.fresh.pop_front());
            user.running += usize::from(task.is_some());
            if user.has_queued() {
                self.turns.push_back(name);
            }
            if task.is_some() {
                self.running += 1;
                return task;
            }
        }
        None
    }

    /// Counts a thread as not running a task of this user: the task is done, waits, or blocks the thread.
    pub fn stopped(&mut self, user: &Arc<str>) {
        self.running = self.running.saturating_sub(1);
        if let Some(user) = self.users.get_mut(user) {
            user.running = user.running.saturating_sub(1);
        }
    }

    /// Counts a thread that blocked as running again; for a moment there may be more than the limits say.
    pub fn resumed(&mut self, user: &Arc<str>) {
        self.running += 1;
        self.users.entry(user.clone()).or_default().running += 1;
    }

    /// Threads that may run at a time.
    pub fn threads(&self) -> usize {
        self.limits.threads
    }

    /// Requests in the pool, and threads that run.
    pub fn counts(&self) -> (usize, usize) {
        (self.requests, self.running)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { threads: 3, threads_per_user: 2, requests: 5, requests_per_user: 4 };

    fn queue(tasks: &[(&str, u32, bool)]) -> Queue<u32> {
        let mut queue = Queue::new(LIMITS);
        for (user, task, has_begun) in tasks {
            queue.push(&Arc::from(*user), *task, *has_begun);
        }
        queue
    }

    #[test]
    fn users_take_turns_and_none_has_all_threads() {
        let mut queue = queue(&[("a", 1, false), ("a", 2, false), ("a", 3, false), ("b", 4, false)]);
        assert_eq!([queue.pop(), queue.pop(), queue.pop(), queue.pop()], [Some(1), Some(4), Some(2), None]);
        queue.stopped(&Arc::from("b"));
        assert_eq!(queue.pop(), None, "a third thread for the first user");
        queue.stopped(&Arc::from("a"));
        assert_eq!(queue.pop(), Some(3));
    }

    #[test]
    fn what_has_begun_goes_on_first() {
        let mut queue = queue(&[("a", 1, false), ("a", 2, true)]);
        assert_eq!([queue.pop(), queue.pop()], [Some(2), Some(1)]);
    }

    #[test]
    fn requests_are_bounded_for_a_user_and_for_all() {
        let (a, b, c): (Arc<str>, Arc<str>, Arc<str>) = ("a".into(), "b".into(), "c".into());
        let mut queue = Queue::<u32>::new(LIMITS);
        assert!((0..4).all(|_| queue.enter(&a, false)) && !queue.enter(&a, false));
        assert!(queue.enter(&b, false) && !queue.enter(&c, false) && queue.enter(&c, true));
        (0..4).for_each(|_| queue.leave(&a));
        assert!(queue.enter(&c, false) && queue.counts() == (3, 0));
    }
}
