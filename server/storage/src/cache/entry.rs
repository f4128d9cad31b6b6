//! One object as the cache keeps it: the bytes it is served from, and what selectors look at.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::budget::Budget;
use crate::{KeyValue, Revision};

/// An object at one revision. Shared by everybody who reads it, and never changed.
pub struct Entry {
    pub key: Bytes,
    /// The revision of the write that made it.
    pub revision: Revision,
    /// The object in its stored form, with its revision in it; empty when it is damaged.
    pub object: Bytes,
    pub attributes: Attributes,
    /// The value as it is stored, where the object is more than a form of it: what a schema drops or adds.
    pub stored: Option<Bytes>,
    /// Why the stored bytes cannot be read.
    pub damage: Option<Damage>,
    encodings: Mutex<Vec<(EncodingId, Bytes)>>,
    budget: Arc<Budget>,
}

/// Names an encoding of an object: whoever encodes gives each version and media type an id of its own.
pub type EncodingId = u64;

impl Entry {
    pub(super) fn new(key: Bytes, revision: Revision, description: Description, budget: Arc<Budget>) -> Self {
        let Description { object, attributes, stored, damage } = description;
        Entry { key, revision, object, attributes, stored, damage, encodings: Mutex::default(), budget }
    }

    /// An object that no key has.
    pub fn detached(object: Bytes) -> Entry {
        Entry::new(Bytes::new(), 0, Description { object, ..Description::default() }, Budget::new(0))
    }

    /// The same object in other words, such as those of another version.
    pub fn with_object(&self, object: Bytes) -> Entry {
        let description = Description { object, attributes: self.attributes.clone(), stored: None, damage: None };
        Entry::new(self.key.clone(), self.revision, description, self.budget.clone())
    }

    /// What is stored, or as good as that: read again, it makes the same entry.
    pub(super) fn key_value(&self) -> KeyValue {
        let value = self.stored.as_ref().unwrap_or(&self.object).clone();
        let damage = self.damage.as_ref().filter(|_| self.stored.is_none()).map(|damage| damage.why().into());
        KeyValue { key: self.key.clone(), value, mod_revision: self.revision, damage, ..KeyValue::default() }
    }

    /// An encoding that was made and is still kept.
    pub fn encoding(&self, id: EncodingId) -> Option<Bytes> {
        self.lock().iter().find(|(known, _)| *known == id).map(|(_, bytes)| bytes.clone())
    }

    /// Whether it has been asked for before, not long ago: then an encoding that takes work is worth keeping. To be asked once for each reader.
    pub fn is_asked_again(&self) -> bool {
        self.budget.asked.again(std::ptr::from_ref(self) as usize)
    }

    /// Keeps an encoding for those who ask for it next, until the budget of all entries is used up by newer ones.
    pub fn keep_encoding(self: &Arc<Self>, id: EncodingId, bytes: &Bytes) {
        let mut encodings = self.lock();
        if encodings.iter().all(|(known, _)| *known != id) {
            encodings.push((id, bytes.clone()));
            drop(encodings);
            self.budget.charge(self, bytes.len());
        }
    }

    /// Forgets the encodings that nobody is using: to forget the others would free nothing, and they would be made again. Gives how many
    /// bytes they took, and whether others are left.
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

/// What a stored value says, as whoever knows its kind reads it ([`EntryDecoder`](super::EntryDecoder)).
#[derive(Default)]
pub struct Description {
    pub object: Bytes,
    pub attributes: Attributes,
    /// See [`Entry::stored`].
    pub stored: Option<Bytes>,
    pub damage: Option<Damage>,
}

/// Why stored bytes cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// They cannot be decrypted.
    Untransformable(Box<str>),
    /// They are no object.
    Undecodable(Box<str>),
}

impl Damage {
    /// What does not fit.
    pub fn why(&self) -> &str {
        let (Damage::Untransformable(why) | Damage::Undecodable(why)) = self;
        why
    }
}

/// Labels and selectable fields of an object, in two allocations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The fields' values, then names and values of the labels in turn.
    text: Box<str>,
    /// Where each of them ends.
    ends: Box<[u32]>,
    fields: u32,
}

impl Attributes {
    /// `fields` in the order in which they are asked for; `labels` sorted by name.
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
        Attributes { text: text.into(), ends: ends.into(), fields: fields.len() as u32 }
    }

    /// The value of the selectable field at this index; empty when there is none.
    pub fn field(&self, index: usize) -> &str {
        if index < self.fields as usize { self.part(index) } else { "" }
    }

    /// The value of a label.
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
        let attributes = Attributes::new(&["node-1".into(), String::new()], labels);
        assert_eq!([attributes.field(0), attributes.field(1), attributes.field(2)], ["node-1", "", ""]);
        for (name, expect) in labels {
            assert_eq!(attributes.label(name), Some(expect), "{name}");
        }
        assert_eq!([attributes.label(""), attributes.label("c"), attributes.label("z")], [None; 3]);
        assert_eq!(Attributes::default().label("app"), None);
    }
}
