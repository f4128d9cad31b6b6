//! What lists cost: how many objects are looked at for those that are shown.

use storage::cache::Count;

use crate::resource::ResourceStore;

/// The lists of a resource.
pub(crate) struct ListCounts {
    /// Lists, and the objects that were looked at for them: without an index, and by the index of each field.
    by_index: Vec<(Count, Count)>,
    /// Objects that were shown.
    returned: Count,
}

/// The lists that were made by one index.
pub struct IndexUse {
    /// What upstream calls the index: `f:spec.nodeName`, or nothing without one.
    pub index: String,
    pub lists: u64,
    /// Objects that were looked at.
    pub fetched: u64,
}

impl ListCounts {
    pub fn new(fields: usize) -> Self {
        let by_index = std::iter::repeat_with(Default::default).take(fields + 1).collect();
        ListCounts { by_index, returned: Count::default() }
    }

    /// Counts a list by the index of a field, or without one.
    pub fn listed(&self, field: Option<usize>, fetched: usize, returned: usize) {
        if let Some((lists, looked_at)) = self.by_index.get(field.map_or(0, |field| field + 1)) {
            lists.add(1);
            looked_at.add(fetched);
        }
        self.returned.add(returned);
    }
}

impl ResourceStore {
    /// The indexes, and how much they were used.
    pub fn index_uses(&self) -> impl Iterator<Item = IndexUse> {
        let names = std::iter::once(String::new()).chain(self.selectable_labels().map(|label| format!("f:{label}")));
        let uses = self.list_counts.by_index.iter();
        names.zip(uses).map(|(index, (lists, fetched))| IndexUse { index, lists: lists.get(), fetched: fetched.get() })
    }

    /// How many objects lists have shown.
    pub fn listed_objects(&self) -> u64 {
        self.list_counts.returned.get()
    }
}
