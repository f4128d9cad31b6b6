//! Ranges with filters and order, and comparisons (etcd's `executeRange` and `applyCompare`).

use super::{
    read::{ReadTransaction, newest},
    row::HistoryRow,
};
use crate::{
    KeyRange, KeyValue, Result, Revision,
    model::{Compare, Order, Property, RangeQuery, RangeResult},
};

impl ReadTransaction<'_> {
    /// Reads a range.
    pub(super) fn query(&self, query: &RangeQuery) -> Result<RangeResult> {
        let at = self.state().at(query.revision)?;
        let revision = self.revision();
        if query.count_only {
            let count = self.count_at(&query.range, at)?;
            return Ok(RangeResult { count, revision, ..RangeResult::default() });
        }
        // A filter or an order needs all keys.
        let needs_all = query.order.is_some() || !query.filter.is_empty();
        let limit = if needs_all { 0 } else { query.limit };
        let (mut kvs, mut more) = self.keys(&query.range, at, limit)?;
        let count = if more { self.count_at(&query.range, at)? } else { kvs.len() as u64 };
        if needs_all {
            kvs.retain(|kv| query.filter.admits(kv));
            sort(&mut kvs, query.order);
            let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
            more = limit != 0 && kvs.len() > limit;
            if more {
                kvs.truncate(limit);
            }
        }
        if query.keys_only {
            kvs.iter_mut().for_each(|kv| kv.value.clear());
        }
        Ok(RangeResult { kvs, more, count, revision })
    }

    /// Returns the keys of a range at a revision, and whether there are more than the limit; 0 is none.
    fn keys(&self, range: &KeyRange, at: Revision, limit: u64) -> Result<(Vec<KeyValue>, bool)> {
        if let Some(key) = range.single() {
            let row = match newest(self.connection(), key)? {
                Some(row) => self.row_at(row, at)?,
                None => None,
            };
            return Ok((row.and_then(HistoryRow::into_live).into_iter().collect(), false));
        }
        let (mut kvs, mut more) = (Vec::new(), false);
        self.scan(range, |row| {
            if let Some(kv) = self.row_at(row, at)?.and_then(HistoryRow::into_live) {
                more = limit != 0 && kvs.len() as u64 == limit;
                if !more {
                    kvs.push(kv);
                }
            }
            Ok(!more)
        })?;
        Ok((kvs, more))
    }

    /// Returns whether the current keys pass all comparisons.
    pub(super) fn passes(&self, compares: &[Compare]) -> Result<bool> {
        for compare in compares {
            if !compare.holds(&self.keys(&compare.range, self.revision(), 0)?.0) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Sorts keys that are in the order of the keys.
fn sort(kvs: &mut [KeyValue], order: Option<Order>) {
    match order {
        None | Some(Order { by: Property::Key, descending: false }) => {}
        Some(Order { by, descending: false }) => kvs.sort_by(|a, b| by.compare(a, b)),
        Some(Order { by, descending: true }) => kvs.sort_by(|a, b| by.compare(b, a)),
    }
}
