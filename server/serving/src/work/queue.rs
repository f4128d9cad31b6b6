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
    /// Bytes that the work takes which has begun.
    pub memory: u64,
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
    /// Bytes that the work takes which has begun.
    memory: u64,
}

struct User<T> {
    /// Tasks that have begun: these hold what they have decoded.
    begun: VecDeque<T>,
    /// Tasks that have not begun, with the bytes that their work takes.
    fresh: VecDeque<(T, u64)>,
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
        Queue { limits, users: HashMap::new(), turns: VecDeque::new(), requests: 0, running: 0, memory: 0 }
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

    /// Counts a request out whose work took this many bytes.
    pub fn leave(&mut self, user: &Arc<str>, memory: u64) {
        self.memory = self.memory.saturating_sub(memory);
        self.requests = self.requests.saturating_sub(1);
        if let Some(of_user) = self.users.get_mut(user) {
            of_user.requests = of_user.requests.saturating_sub(1);
            if of_user.requests == 0 && of_user.running == 0 && !of_user.has_queued() {
                self.users.remove(user);
            }
        }
    }

    /// Queues a task of a user that has not begun; its work takes this many bytes.
    pub fn push(&mut self, user: &Arc<str>, task: T, memory: u64) {
        self.user_with_turn(user).fresh.push_back((task, memory));
    }

    /// Queues a task of a user that can go on.
    pub fn push_begun(&mut self, user: &Arc<str>, task: T) {
        self.user_with_turn(user).begun.push_back(task);
    }

    fn user_with_turn(&mut self, name: &Arc<str>) -> &mut User<T> {
        let user = self.users.entry(name.clone()).or_default();
        if !user.has_queued() {
            self.turns.push_back(name.clone());
        }
        user
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
            // Work that takes more than there is for all begins when no other has.
            let room = if self.memory == 0 { u64::MAX } else { self.limits.memory.saturating_sub(self.memory) };
            let fits = user.fresh.front().is_some_and(|(_, memory)| *memory <= room);
            let task = match user.begun.pop_front() {
                None if fits => user.fresh.pop_front().map(|(task, memory)| {
                    self.memory += memory;
                    task
                }),
                begun => begun,
            };
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

    const LIMITS: Limits = Limits { threads: 3, threads_per_user: 2, requests: 5, requests_per_user: 4, memory: 100 };

    fn queue(tasks: &[(&str, u32, bool)]) -> Queue<u32> {
        let mut queue = Queue::new(LIMITS);
        for (user, task, has_begun) in tasks {
            match has_begun {
                true => queue.push_begun(&Arc::from(*user), *task),
                false => queue.push(&Arc::from(*user), *task, 0),
            }
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
    fn work_begins_when_there_is_memory_for_it() {
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let mut queue = Queue::new(LIMITS);
        queue.push(&a, 1, 500);
        queue.push(&b, 2, 60);
        queue.push(&b, 3, 60);
        assert_eq!([queue.pop(), queue.pop()], [Some(1), None]);
        queue.leave(&a, 500);
        assert_eq!([queue.pop(), queue.pop()], [Some(2), None]);
        queue.push_begun(&b, 4);
        assert_eq!([queue.pop(), queue.pop()], [Some(4), None]);
        queue.leave(&b, 60);
        queue.stopped(&b);
        assert_eq!(queue.pop(), Some(3));
    }

    #[test]
    fn requests_are_bounded_for_a_user_and_for_all() {
        let (a, b, c): (Arc<str>, Arc<str>, Arc<str>) = ("a".into(), "b".into(), "c".into());
        let mut queue = Queue::<u32>::new(LIMITS);
        assert!((0..4).all(|_| queue.enter(&a, false)) && !queue.enter(&a, false));
        assert!(queue.enter(&b, false) && !queue.enter(&c, false) && queue.enter(&c, true));
        (0..4).for_each(|_| queue.leave(&a, 0));
        assert!(queue.enter(&c, false) && queue.counts() == (3, 0));
    }
}
