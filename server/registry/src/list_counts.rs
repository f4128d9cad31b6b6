//! Counters of lists: objects examined and objects returned.

use storage::cache::Count;

use crate::resource::ResourceStore;

/// Counters of the lists of a resource.
pub(crate) struct ListCounts {
    /// Lists and the objects that they examined: first without an index, then by the index of each field.
    by_index: Vec<(Count, Count)>,
    /// Objects returned.
    returned: Count,
}

/// Counters of the lists that used one index.
pub struct IndexUse {
    /// Upstream's name of the index, such as `f:spec.nodeName`; empty for none.
    pub index: String,
    /// Number of lists.
    pub lists: u64,
    /// Objects examined.
    pub fetched: u64,
}

impl ListCounts {
    pub fn new(fields: usize) -> Self {
        let by_index = std::iter::repeat_with(Default::default).take(fields + 1).collect();
        ListCounts { by_index, returned: Count::default() }
    }

    /// Counts a list that used the index of a field, or none.
    pub fn listed(&self, field: Option<usize>, fetched: usize, returned: usize) {
        if let Some((lists, looked_at)) = self.by_index.get(field.map_or(0, |field| field + 1)) {
            lists.add(1);
            looked_at.add(fetched);
        }
        self.returned.add(returned);
    }
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
