//! Counters of lists: objects examined and objects returned.

use storage::cache::Counter;

/// Counters of the lists of a resource.
pub(crate) struct ListCounts {
    /// Lists and the objects that they examined: first without an index, then by the index of each field.
    pub by_index: Vec<(Counter, Counter)>,
    /// Objects returned.
    pub returned: Counter,
}

impl ListCounts {
    pub fn new(fields: usize) -> Self {
        let by_index = std::iter::repeat_with(Default::default).take(fields + 1).collect();
        ListCounts { by_index, returned: Counter::default() }
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
