//! Counts the watchers that a write notifies, for its estimate (upstream: `WatchTracker`).

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::digest::Digest;

/// Counts watches by scope: a resource, a namespace of it, or one object.
#[derive(Clone, Default)]
pub struct Watches(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// Scopes are identified by their hash, so that a look-up copies no names.
    hasher: RandomState,
    counts: Mutex<HashMap<u64, usize>>,
}

/// A counted watch; dropping it decrements the count.
pub struct CountedWatch {
    watches: Watches,
    key: u64,
}

impl Watches {
    /// Counts a watch.
    pub fn add(&self, digest: &Digest<'_>) -> CountedWatch {
        let key = self.key(digest, digest.namespace, digest.name);
        *self.counts().entry(key).or_default() += 1;
        CountedWatch { watches: self.clone(), key }
    }

    /// The number of watches that may receive the event of a write.
    pub fn interested(&self, digest: &Digest<'_>) -> usize {
        let mut keys = [Some(self.key(digest, "", "")), None, None];
        if !digest.namespace.is_empty() {
            keys[1] = Some(self.key(digest, digest.namespace, ""));
        }
        if !digest.name.is_empty() {
            keys[2] = Some(self.key(digest, digest.namespace, digest.name));
        }
        let counts = self.counts();
        keys.iter().flatten().filter_map(|key| counts.get(key)).sum()
    }

    fn key(&self, digest: &Digest<'_>, namespace: &str, name: &str) -> u64 {
        self.0.hasher.hash_one((digest.group, digest.resource, namespace, name))
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<u64, usize>> {
        self.0.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CountedWatch {
    fn drop(&mut self) {
        let mut counts = self.watches.counts();
        if let Some(count) = counts.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_concerns_watches_of_resource_namespace_and_object() {
        let watches = Watches::default();
        let of = |namespace: &'static str, name: &'static str| Digest {
            resource: "pods",
            namespace,
            name,
            ..Digest::default()
        };
        let watched = [of("", ""), of("a", ""), of("b", ""), of("a", "x")].map(|digest| watches.add(&digest));
        for (namespace, name, expect) in [("a", "x", 3), ("a", "y", 2), ("a", "", 2), ("b", "x", 2), ("c", "x", 1)] {
            assert_eq!(watches.interested(&of(namespace, name)), expect, "{namespace}/{name}");
        }
        assert_eq!(watches.interested(&Digest { resource: "nodes", ..Digest::default() }), 0);
        drop(watched);
        assert_eq!((watches.interested(&of("a", "x")), watches.counts().len()), (0, 0));
    }
}
