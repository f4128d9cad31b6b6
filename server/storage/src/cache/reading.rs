//! Reads the whole store page by page, directly into the entries of claimed resources. At most one page
//! is in memory twice, as stored and as served.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use bytes::Bytes;

use super::resource::{Reading, ResourceCache};
use crate::{KeyRange, KeyValue, ListOptions, Result, Revision, Store};

/// Approximate size of a page in bytes.
const PAGE_BYTES: usize = 4 << 20;
/// Number of objects of the first page, while their size is unknown, and the maximum.
const FIRST_PAGE: usize = 500;
const LARGEST_PAGE: usize = 10_000;

/// The values read so far.
#[derive(Default)]
pub(super) struct Filling {
    /// Objects of claimed resources, by the prefix of their keys.
    pub claimed: HashMap<Bytes, Reading>,
    /// Values as stored, of resources that were unclaimed when they were read.
    pub unclaimed: BTreeMap<Bytes, KeyValue>,
    /// The keys of undecryptable values.
    pub damaged: BTreeSet<Bytes>,
}

impl Filling {
    /// Adds a value of the resource that its key belongs to.
    pub fn take(&mut self, of: Option<(&Bytes, &Arc<ResourceCache>)>, kv: KeyValue) {
        if kv.damage.is_some() {
            self.damaged.insert(kv.key.clone());
        }
        let Some((prefix, resource)) = of else {
            self.unclaimed.insert(kv.key.clone(), kv);
            return;
        };
        if !self.claimed.contains_key(prefix) {
            self.claimed.insert(prefix.clone(), Reading::begin(resource.clone()));
        }
        if let Some(Reading { resource, objects, .. }) = self.claimed.get_mut(prefix) {
            objects.insert(resource.entry(&kv));
        }
    }
}

/// Passes all keys below a prefix at one revision to `give`, page by page; returns that revision.
pub(super) async fn all_pages(
    store: &dyn Store,
    prefix: &Bytes,
    mut give: impl FnMut(Vec<KeyValue>),
) -> Result<Revision> {
    let mut range = KeyRange::prefix(prefix.clone());
    let (mut limit, mut at) = (FIRST_PAGE, None);
    loop {
        let page = store.list(range.clone(), ListOptions { limit, revision: at }).await?;
        let revision = *at.get_or_insert(page.revision);
        let next = page.kvs.last().filter(|_| page.more).map(|last| range.after(&last.key));
        limit = limit_after(&page.kvs);
        give(page.kvs);
        match next {
            Some(rest) => range = rest,
            None => return Ok(revision),
        }
    }
}

/// Returns the number of objects of the next page, assuming the object size of the last one.
fn limit_after(kvs: &[KeyValue]) -> usize {
    let bytes: usize = kvs.iter().map(|kv| kv.value.len()).sum();
    (kvs.len() * PAGE_BYTES / bytes.max(1)).clamp(1, LARGEST_PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_as_long_as_objects_are_small() {
        let of = |count, bytes| -> Vec<KeyValue> {
            let value = Bytes::from(vec![0; bytes]);
            (0..count).map(|_| KeyValue { value: value.clone(), ..KeyValue::default() }).collect()
        };
        let limits = [of(500, 4 << 10), of(4, 1 << 20), of(2, 8 << 20), of(3, 0), of(0, 0)];
        assert_eq!(limits.map(|page| limit_after(&page)), [1024, 4, 1, LARGEST_PAGE, 1]);
    }
}
