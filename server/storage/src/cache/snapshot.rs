//! The objects of one resource at one revision: a persistent ordered set, cloned in constant time.
//! Later changes do not affect it.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use imbl::{HashMap, OrdSet};

use super::entry::Entry;
use crate::{KeyRange, Revision};

/// An entry, ordered by its key.
#[derive(Clone)]
struct ByKey(Arc<Entry>);

impl Borrow<[u8]> for ByKey {
    fn borrow(&self) -> &[u8] {
        &self.0.key
    }
}

impl PartialEq for ByKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.key == other.0.key
    }
}

impl Eq for ByKey {}

impl PartialOrd for ByKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ByKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.key.cmp(&other.0.key)
    }
}

/// Entries by the value of one field.
type Index = HashMap<Box<str>, OrdSet<ByKey>>;

/// The objects of one resource at one revision.
#[derive(Clone, Default)]
pub struct Snapshot {
    objects: OrdSet<ByKey>,
    /// By field; created by the first selector that requires the field's value.
    indexes: HashMap<usize, Index>,
    /// Size of all objects as served.
    bytes: usize,
    /// The snapshot has every change of its resource up to this revision.
    pub revision: Revision,
}

impl Snapshot {
    pub(super) fn at(revision: Revision) -> Self {
        Snapshot { revision, ..Snapshot::default() }
    }

    /// Returns the object of a key.
    pub fn get(&self, key: &[u8]) -> Option<&Arc<Entry>> {
        self.objects.get(key).map(|found| &found.0)
    }

    /// Returns all objects in key order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.objects.iter().map(|found| &found.0)
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Returns the size of the objects in bytes in stored form.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns whether the resource has no objects.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Returns the objects of a range in key order.
    pub fn range(&self, range: &KeyRange) -> impl DoubleEndedIterator<Item = &Arc<Entry>> {
        within(&self.objects, range)
    }

    /// Returns the objects of a range with a field value; `None` without an index.
    ///
    /// [`ResourceCache::snapshot_by_field`](super::ResourceCache::snapshot_by_field) creates the index.
    pub fn with_field(&self, field: usize, value: &str, range: &KeyRange) -> Option<impl Iterator<Item = &Arc<Entry>>> {
        let found = self.indexes.get(&field)?.get(value);
        Some(found.into_iter().flat_map(|objects| within(objects, range)))
    }

    pub(super) fn has_index(&self, field: usize) -> bool {
        self.indexes.contains_key(&field)
    }

    pub(super) fn add_index(&mut self, field: usize) {
        let mut index = Index::new();
        for object in &self.objects {
            index.entry(object.0.attributes.field(field).into()).or_default().insert(object.clone());
        }
        self.indexes.insert(field, index);
    }

    /// Inserts an object; returns the previous object of its key.
    pub(super) fn insert(&mut self, entry: Arc<Entry>) -> Option<Arc<Entry>> {
        let new = ByKey(entry);
        let old = self.objects.insert(new.clone()).map(|old| old.0);
        self.bytes = self.bytes + new.0.object.len() - old.as_ref().map_or(0, |old| old.object.len());
        for (field, index) in fields_of(&mut self.indexes) {
            let value = new.0.attributes.field(field);
            if let Some(old) = old.as_ref().filter(|old| old.attributes.field(field) != value) {
                take_out(index, old.attributes.field(field), &old.key);
            }
            index.entry(value.into()).or_default().insert(new.clone());
        }
        old
    }

    /// Removes the object of a key and returns it.
    pub(super) fn remove(&mut self, key: &[u8]) -> Option<Arc<Entry>> {
        let old = self.objects.remove(key)?.0;
        self.bytes -= old.object.len();
        for (field, index) in fields_of(&mut self.indexes) {
            take_out(index, old.attributes.field(field), key);
        }
        Some(old)
    }
}

fn fields_of(indexes: &mut HashMap<usize, Index>) -> impl Iterator<Item = (usize, &mut Index)> {
    indexes.iter_mut().map(|(field, index)| (*field, index))
}

fn take_out(index: &mut Index, value: &str, key: &[u8]) {
    let Some(objects) = index.get_mut(value) else { return };
    objects.remove(key);
    if objects.is_empty() {
        index.remove(value);
    }
}

fn within<'s>(objects: &'s OrdSet<ByKey>, range: &KeyRange) -> impl DoubleEndedIterator<Item = &'s Arc<Entry>> {
    let start: Bound<&[u8]> = Bound::Included(range.start());
    let end: Bound<&[u8]> = range.end().map_or(Bound::Unbounded, |end: &Bytes| Bound::Excluded(end));
    objects.range::<_, [u8]>((start, end)).map(|found| &found.0)
}
