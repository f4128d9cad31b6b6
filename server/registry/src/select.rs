//! Label and field selectors, asked of what the cache keeps of an object.

use std::sync::Arc;

use bytes::Bytes;
use machinery::selector::{FieldSelector, LabelSelector};
use storage::KeyRange;
use storage::cache::{Entry, Matches, Selection};

use crate::resource::ResourceStore;

/// Which objects are wanted.
#[derive(Clone, Default)]
pub struct Predicate {
    pub labels: LabelSelector,
    pub fields: FieldSelector,
}

impl Predicate {
    /// Whether it lets everything through.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }
}

/// A term of a field selector, and where its value is found.
enum Term {
    Name(bool, String),
    Namespace(bool, String),
    Field(usize, bool, String),
}

/// A predicate of one resource, and the shortest way to what it selects.
pub(crate) struct Selector {
    pub range: KeyRange,
    /// The one key that is wanted.
    pub key: Option<Bytes>,
    /// A field that must have one value.
    pub field: Option<(usize, Box<str>)>,
    terms: Vec<Term>,
    labels: LabelSelector,
    /// Whether nothing is selected.
    is_whole: bool,
    /// The length of what all keys of the resource begin with.
    root: usize,
    namespaced: bool,
}

impl Selector {
    pub fn new(store: &ResourceStore, namespace: &str, predicate: &Predicate) -> Self {
        let mut terms: Vec<Term> = predicate
            .fields
            .requirements()
            .iter()
            .map(|r| match r.field.as_str() {
                "metadata.name" => Term::Name(r.equal, r.value.clone()),
                "metadata.namespace" => Term::Namespace(r.equal, r.value.clone()),
                label => Term::Field(store.field_index(label), r.equal, r.value.clone()),
            })
            .collect();
        let exact = |label| predicate.fields.requires_exact_match(label).filter(|value| !value.is_empty());
        let asked = exact("metadata.namespace").filter(|_| store.def.namespaced && namespace.is_empty());
        let within = asked.unwrap_or(namespace);
        let single = exact("metadata.name").filter(|_| !store.def.namespaced || !within.is_empty());
        let key = single.map(|name| Bytes::from(store.key(within, name)));
        let range = key.clone().map_or_else(|| store.range(within), KeyRange::key);
        let field = terms.iter().find_map(|term| match term {
            Term::Field(index, true, value) => Some((*index, value.as_str().into())),
            _ => None,
        });
        // What the range says already need not be asked again.
        terms.retain(|term| match term {
            Term::Name(true, value) => key.is_none() || single != Some(value.as_str()),
            Term::Namespace(true, value) => !(store.def.namespaced && value == within),
            _ => true,
        });
        let (root, namespaced) = (store.root.len(), store.def.namespaced);
        let (labels, is_whole) = (predicate.labels.clone(), predicate.is_empty());
        Selector { range, key, field, terms, labels, is_whole, root, namespaced }
    }

    /// Whether a page tells how many objects are left: where nothing is selected, also not what the range says.
    pub fn tells_rest(&self) -> bool {
        self.is_whole
    }

    /// Whether everything in the range is wanted.
    pub fn takes_all(&self) -> bool {
        self.terms.is_empty() && self.labels.is_empty()
    }

    /// The field and value whose index finds the objects, where going through the range would take longer.
    pub fn index(&self) -> Option<(usize, &str)> {
        self.field.as_ref().filter(|_| self.key.is_none()).map(|(field, value)| (*field, &**value))
    }

    /// Whether an object in the range is wanted.
    pub fn matches(&self, entry: &Entry) -> bool {
        self.terms.iter().all(|term| match term {
            Term::Name(equal, value) => (self.names(entry).1 == value.as_bytes()) == *equal,
            Term::Namespace(equal, value) => (self.names(entry).0 == value.as_bytes()) == *equal,
            Term::Field(index, equal, value) => (entry.attributes.field(*index) == value) == *equal,
        }) && (self.labels.is_empty() || self.labels.matches(|name| entry.attributes.label(name)))
    }

    /// Namespace and name, as the key has them.
    fn names<'e>(&self, entry: &'e Entry) -> (&'e [u8], &'e [u8]) {
        let rest = entry.key.get(self.root..).unwrap_or_default();
        match rest.iter().position(|byte| *byte == b'/') {
            Some(slash) if self.namespaced => (&rest[..slash], &rest[slash + 1..]),
            _ => (&[], rest),
        }
    }

    /// What a watcher of these objects registers as.
    pub fn selection(self: &Arc<Self>) -> Selection {
        let matches = (!self.takes_all()).then(|| {
            let selector = self.clone();
            Box::new(move |entry: &Entry| selector.matches(entry)) as Matches
        });
        Selection { range: self.range.clone(), key: self.key.clone(), field: self.field.clone(), matches }
    }
}
