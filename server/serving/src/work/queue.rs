//! The queue of the work pool, fair between users.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The limits of a pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoolLimits {
    /// The maximum number of running threads.
    pub threads: usize,
    /// The maximum number of running threads per user.
    pub threads_per_user: usize,
    /// The maximum number of requests in the pool.
    pub requests: usize,
    /// The maximum number of requests per user.
    pub requests_per_user: usize,
    /// The maximum expected memory of started work, in bytes.
    pub memory: u64,
}

/// The tasks and requests of all users. `T` is a task, queued each time it can be polled.
pub(super) struct TaskQueue<T> {
    limits: PoolLimits,
    users: HashMap<Arc<str>, User<T>>,
    /// Users with queued tasks, in round-robin order.
    turns: VecDeque<Arc<str>>,
    /// Requests in the pool: queued, running, or waiting.
    requests: usize,
    running: usize,
    /// The expected memory of started work, in bytes.
    memory: u64,
}

struct User<T> {
    /// Started tasks: these hold decoded objects.
    started: VecDeque<T>,
    /// Tasks that have not started, with their expected memory in bytes.
    unstarted: VecDeque<(T, u64)>,
    running: usize,
    requests: usize,
}

impl<T> User<T> {
    fn has_queued(&self) -> bool {
        !self.started.is_empty() || !self.unstarted.is_empty()
    }
}

impl<T> Default for User<T> {
    fn default() -> Self {
        User { started: VecDeque::new(), unstarted: VecDeque::new(), running: 0, requests: 0 }
    }
}

impl<T> TaskQueue<T> {
    pub fn new(limits: PoolLimits) -> Self {
        TaskQueue { limits, users: HashMap::new(), turns: VecDeque::new(), requests: 0, running: 0, memory: 0 }
    }

    /// Counts a request in; returns false if a limit is exceeded. `unlimited` users are never
    /// rejected.
    pub fn enter(&mut self, user: &Arc<str>, unlimited: bool) -> bool {
        let of_user = self.users.get(user).map_or(0, |of_user| of_user.requests);
        if !unlimited && (self.requests >= self.limits.requests || of_user >= self.limits.requests_per_user) {
            return false;
        }
        self.requests += 1;
        self.users.entry(user.clone()).or_default().requests += 1;
        true
    }

    /// Counts a request out; `memory` is the expected memory of its work.
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

    /// Queues a task that has not started, with the expected memory of its work in bytes.
    pub fn push(&mut self, user: &Arc<str>, task: T, memory: u64) {
        self.user_with_turn(user).unstarted.push_back((task, memory));
    }

    /// Queues a started task that can be polled.
    pub fn push_started(&mut self, user: &Arc<str>, task: T) {
        self.user_with_turn(user).started.push_back(task);
    }

    fn user_with_turn(&mut self, name: &Arc<str>) -> &mut User<T> {
        let user = self.users.entry(name.clone()).or_default();
        if !user.has_queued() {
            self.turns.push_back(name.clone());
        }
        user
    }

    /// Returns the next task and counts a running thread; `None` when no task may run.
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
            // Work that exceeds the limit alone starts when no other work has started.
            let room = if self.memory == 0 { u64::MAX } else { self.limits.memory.saturating_sub(self.memory) };
            let fits = user.unstarted.front().is_some_and(|(_, memory)| *memory <= room);
            let task = match user.started.pop_front() {
                None if fits => user.unstarted.pop_front().map(|(task, memory)| {
                    self.memory += memory;
                    task
                }),
                started => started,
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

    /// Counts a running thread out: its task of this user is done, pending, or blocks the thread.
    pub fn stopped(&mut self, user: &Arc<str>) {
        self.running = self.running.saturating_sub(1);
        if let Some(user) = self.users.get_mut(user) {
            user.running = user.running.saturating_sub(1);
        }
    }

    /// Counts a blocked thread as running again; the limit may be exceeded temporarily.
    pub fn resumed(&mut self, user: &Arc<str>) {
        self.running += 1;
        self.users.entry(user.clone()).or_default().running += 1;
    }

    /// The maximum number of running threads.
    pub fn threads(&self) -> usize {
        self.limits.threads
    }

    /// The numbers of requests in the pool and of running threads.
    pub fn counts(&self) -> (usize, usize) {
        (self.requests, self.running)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: PoolLimits =
        PoolLimits { threads: 3, threads_per_user: 2, requests: 5, requests_per_user: 4, memory: 100 };

    fn queue(tasks: &[(&str, u32, bool)]) -> TaskQueue<u32> {
        let mut queue = TaskQueue::new(LIMITS);
        for (user, task, has_started) in tasks {
            match has_started {
                true => queue.push_started(&Arc::from(*user), *task),
                false => queue.push(&Arc::from(*user), *task, 0),
            }
        }
        queue
    }

    #[test]
    fn threads_are_shared_between_users() {
        let mut queue = queue(&[("a", 1, false), ("a", 2, false), ("a", 3, false), ("b", 4, false)]);
        assert_eq!([queue.pop(), queue.pop(), queue.pop(), queue.pop()], [Some(1), Some(4), Some(2), None]);
        queue.stopped(&Arc::from("b"));
        assert_eq!(queue.pop(), None, "a third thread for the first user");
        queue.stopped(&Arc::from("a"));
        assert_eq!(queue.pop(), Some(3));
    }

    #[test]
    fn started_tasks_run_first() {
        let mut queue = queue(&[("a", 1, false), ("a", 2, true)]);
        assert_eq!([queue.pop(), queue.pop()], [Some(2), Some(1)]);
    }

    #[test]
    fn work_starts_when_memory_is_available() {
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let mut queue = TaskQueue::new(LIMITS);
        queue.push(&a, 1, 500);
        queue.push(&b, 2, 60);
        queue.push(&b, 3, 60);
        assert_eq!([queue.pop(), queue.pop()], [Some(1), None]);
        queue.leave(&a, 500);
        assert_eq!([queue.pop(), queue.pop()], [Some(2), None]);
        queue.push_started(&b, 4);
        assert_eq!([queue.pop(), queue.pop()], [Some(4), None]);
        queue.leave(&b, 60);
        queue.stopped(&b);
        assert_eq!(queue.pop(), Some(3));
    }

    #[test]
    fn limits_requests_per_user_and_in_total() {
        let (a, b, c): (Arc<str>, Arc<str>, Arc<str>) = ("a".into(), "b".into(), "c".into());
        let mut queue = TaskQueue::<u32>::new(LIMITS);
        assert!((0..4).all(|_| queue.enter(&a, false)) && !queue.enter(&a, false));
        assert!(queue.enter(&b, false) && !queue.enter(&c, false) && queue.enter(&c, true));
        (0..4).for_each(|_| queue.leave(&a, 0));
        assert!(queue.enter(&c, false) && queue.counts() == (3, 0));
    }
}
