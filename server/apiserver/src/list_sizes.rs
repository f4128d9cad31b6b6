//! Sizes of resources in the watch cache, for the cost of lists in priority and fairness.

use std::sync::Arc;

use flowcontrol::{ListSize, ListSizes};
use registry::Stores;

use crate::backends::Backends;

/// Looks up sizes in the caches.
pub struct ResourceSizes {
    stores: Arc<Stores>,
    backends: Arc<Backends>,
    /// The prefix of all keys.
    prefix: String,
}

impl ResourceSizes {
    pub fn new(stores: &Arc<Stores>, backends: &Arc<Backends>, prefix: &str) -> Self {
        ResourceSizes { stores: stores.clone(), backends: backends.clone(), prefix: prefix.to_owned() }
    }
}

impl ListSizes for ResourceSizes {
    fn of(&self, group: &str, resource: &str) -> Option<ListSize> {
        let (objects, bytes) = match self.stores.get(&(group, resource)) {
            Some(store) => store.cache.size(),
            // Custom resources have no store here; they are found by their key prefix.
            None => {
                let prefix = format!("{}/{group}/{resource}/", self.prefix);
                self.backends.of(group, resource).cache.size(prefix.as_bytes())?
            }
        };
        Some(ListSize { objects: objects as u64, bytes: bytes as u64 })
    }
}
