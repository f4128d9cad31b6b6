//! A cached object: the bytes that responses are made of, and the attributes that selectors match.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::budget::CacheBudget;
use crate::{KeyValue, Revision};

/// An object at one revision. It is shared by all readers and immutable.
pub struct Entry {
    /// The key in the store; empty for [`Entry::detached`].
    pub key: Bytes,
    /// The revision of the write that created this state.
    pub revision: Revision,
    /// The object in its stored form, with its revision; empty when damaged.
    pub object: Bytes,
    /// Labels and selectable fields of the object; empty when the value is damaged.
    pub attributes: LabelsAndFields,
    /// The value as stored, when `object` differs from it in more than the revision.
    ///
    /// A schema or a default adds or removes fields then.
    pub stored: Option<Bytes>,
    /// Why the stored bytes cannot be read.
    pub damage: Option<Damage>,
    encodings: Mutex<Vec<(EncodingId, Bytes)>>,
    budget: Arc<CacheBudget>,
}

/// Identifies an encoding of an object. The encoder assigns an id to each pair of version and media type.
pub type EncodingId = u64;

impl Entry {
    pub(super) fn new(key: Bytes, revision: Revision, description: Description, budget: Arc<CacheBudget>) -> Self {
        let Description { object, attributes, stored, damage } = description;
        Entry { key, revision, object, attributes, stored, damage, encodings: Mutex::default(), budget }
    }

    /// Creates an entry without a key, such as that of a computed object.
    pub fn detached(object: Bytes) -> Entry {
        Entry::new(Bytes::new(), 0, Description { object, ..Description::default() }, CacheBudget::new(0))
    }

    /// Returns an entry with the same key, revision and attributes, and other contents.
    ///
    /// The contents are, for example, the object in another version.
    pub fn with_object(&self, object: Bytes) -> Entry {
        let description = Description { object, attributes: self.attributes.clone(), stored: None, damage: None };
        Entry::new(self.key.clone(), self.revision, description, self.budget.clone())
    }

    /// Returns the stored value or its equivalent: decoding it again yields the same entry.
    pub(super) fn key_value(&self) -> KeyValue {
        let value = self.stored.as_ref().unwrap_or(&self.object).clone();
        let damage = self.damage.as_ref().filter(|_| self.stored.is_none()).map(|damage| damage.why().into());
        KeyValue { key: self.key.clone(), value, mod_revision: self.revision, damage, ..KeyValue::default() }
    }

    /// Returns a cached encoding.
    pub fn encoding(&self, id: EncodingId) -> Option<Bytes> {
        self.lock().iter().find(|(known, _)| *known == id).map(|(_, bytes)| bytes.clone())
    }

    /// Records a request and returns whether the object was requested recently.
    ///
    /// An expensive encoding is worth caching then. Call it once per reader.
    pub fn was_requested_recently(&self) -> bool {
        self.budget.repeats.record(std::ptr::from_ref(self) as usize)
    }

    /// Caches an encoding until newer ones use up the budget that all entries share.
    pub fn keep_encoding(self: &Arc<Self>, id: EncodingId, bytes: &Bytes) {
        let mut encodings = self.lock();
        if encodings.iter().all(|(known, _)| *known != id) {
            encodings.push((id, bytes.clone()));
            drop(encodings);
            self.budget.charge(self, bytes.len());
        }
    }

    /// Drops the encodings that are not in use; returns their size in bytes and whether encodings
    /// remain. To drop an encoding in use would free no memory, and the next reader would encode the
    /// object again.
    pub(super) fn drop_unused_encodings(&self) -> (usize, bool) {
        let (mut encodings, mut freed) = (self.lock(), 0);
        encodings.retain(|(_, bytes)| {
            let is_used = !bytes.is_unique();
            freed += if is_used { 0 } else { bytes.len() };
            is_used
        });
        (freed, !encodings.is_empty())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(EncodingId, Bytes)>> {
        self.encodings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let kept = self.lock().iter().map(|(_, bytes)| bytes.len()).sum();
        self.budget.release(kept);
    }
}

/// The decoded form of a stored value ([`EntryDecoder`](super::EntryDecoder)).
#[derive(Default)]
pub struct Description {
    /// See [`Entry::object`].
    pub object: Bytes,
    /// See [`Entry::attributes`].
    pub attributes: LabelsAndFields,
    /// See [`Entry::stored`].
    pub stored: Option<Bytes>,
    /// See [`Entry::damage`].
    pub damage: Option<Damage>,
}

/// Why stored bytes cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The value cannot be decrypted.
    Untransformable(Box<str>),
    /// The value is not an object of its kind.
    Undecodable(Box<str>),
}

impl Damage {
    /// Returns the reason.
    pub fn why(&self) -> &str {
        let (Damage::Untransformable(why) | Damage::Undecodable(why)) = self;
        why
    }
}

/// Labels and selectable fields of an object, in two allocations.
///
/// ```
/// use storage::cache::LabelsAndFields;
///
/// let attributes = LabelsAndFields::new(&["node-1".to_owned()], [("app", "web"), ("tier", "front")]);
/// assert_eq!(attributes.field(0), "node-1");
/// assert_eq!((attributes.label("app"), attributes.label("zone")), (Some("web"), None));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelsAndFields {
    /// The values of the fields, then name and value of each label.
    text: Box<str>,
    /// The end offset of each part of `text`.
    ends: Box<[u32]>,
    fields: u32,
}

impl LabelsAndFields {
    /// Creates attributes from field values in index order, and labels sorted by name.
    pub fn new<'a>(fields: &[String], labels: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let (mut text, mut ends) = (String::new(), Vec::with_capacity(fields.len() + 8));
        let mut add = |part: &str| {
            text.push_str(part);
            ends.push(text.len() as u32);
        };
        fields.iter().for_each(|field| add(field));
        for (name, value) in labels {
            add(name);
            add(value);
        }
        LabelsAndFields { text: text.into(), ends: ends.into(), fields: fields.len() as u32 }
    }

    /// Returns the value of the selectable field at an index; empty without one.
    pub fn field(&self, index: usize) -> &str {
        if index < self.fields as usize { self.part(index) } else { "" }
    }

    /// Returns the value of a label; `None` when the object does not have it.
    pub fn label(&self, name: &str) -> Option<&str> {
        let first = self.fields as usize;
        let (mut low, mut high) = (0, (self.ends.len() - first) / 2);
        while low < high {
            let middle = (low + high) / 2;
            match self.part(first + 2 * middle).cmp(name) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(self.part(first + 2 * middle + 1)),
            }
        }
        None
    }

    fn part(&self, index: usize) -> &str {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[index] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found() {
        let labels = [("app", "web"), ("b", ""), ("tier", "front")];
        let attributes = LabelsAndFields::new(&["node-1".into(), String::new()], labels);
        assert_eq!([attributes.field(0), attributes.field(1), attributes.field(2)], ["node-1", "", ""]);
        for (name, expect) in labels {
            assert_eq!(attributes.label(name), Some(expect), "{name}");
        }
        assert_eq!([attributes.label(""), attributes.label("c"), attributes.label("z")], [None; 3]);
        assert_eq!(LabelsAndFields::default().label("app"), None);
    }
}
