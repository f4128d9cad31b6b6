//! Tasks by key. A task runs as long as its key exists.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::hash::Hash;

use tokio::task::AbortHandle;

/// Tasks by key. Dropping the map aborts them.
#[derive(Debug)]
pub struct TaskMap<K>(HashMap<K, AbortHandle>);

impl<K> Default for TaskMap<K> {
    fn default() -> Self {
        TaskMap(HashMap::new())
    }
}

impl<K: Clone + Eq + Hash> TaskMap<K> {
    /// Starts tasks for new keys and for keys with a finished task; aborts tasks of removed keys.
    /// Requires a tokio runtime.
    pub fn keep<F>(&mut self, keys: &HashSet<K>, begin: impl Fn(K) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.0.retain(|key, task| {
            let stays = keys.contains(key) && !task.is_finished();
            if !stays {
                task.abort();
            }
            stays
        });
        for key in keys {
            if !self.0.contains_key(key) {
                let task = tokio::spawn(begin(key.clone())).abort_handle();
                self.0.insert(key.clone(), task);
            }
        }
    }
}

impl<K> Drop for TaskMap<K> {
    fn drop(&mut self) {
        self.0.values().for_each(AbortHandle::abort);
    }
}
