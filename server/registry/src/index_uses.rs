//! What the counters of lists have counted.

use crate::resource::ResourceStore;

/// Counters of the lists that used one index.
pub struct IndexUse {
    /// Upstream's name of the index, such as `f:spec.nodeName`; empty for none.
    pub index: String,
    /// Number of lists.
    pub lists: u64,
    /// Objects examined.
    pub fetched: u64,
}

impl ResourceStore {
    /// Returns the counters of each index.
    pub fn index_uses(&self) -> impl Iterator<Item = IndexUse> {
        let names = std::iter::once(String::new()).chain(self.selectable_labels().map(|label| format!("f:{label}")));
        let uses = self.list_counts.by_index.iter();
        names.zip(uses).map(|(index, (lists, fetched))| IndexUse { index, lists: lists.get(), fetched: fetched.get() })
    }

    /// Returns the number of objects that lists have returned.
    pub fn listed_objects(&self) -> u64 {
        self.list_counts.returned.get()
    }
}
