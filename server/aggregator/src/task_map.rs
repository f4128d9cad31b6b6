//! A task for each of some keys, as long as the key is there.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::hash::Hash;

use tokio::task::AbortHandle;

/// The tasks by their keys. They end with this.
#[derive(Debug)]
pub struct TaskMap<K>(HashMap<K, AbortHandle>);

impl<K> Default for TaskMap<K> {
    fn default() -> Self {
        TaskMap(HashMap::new())
    }
}

impl<K: Clone + Eq + Hash> TaskMap<K> {
    /// Begins tasks for keys that are new, or whose task has ended, and ends those of keys that are gone. Needs a tokio runtime.
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
