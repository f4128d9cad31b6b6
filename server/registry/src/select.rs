//! Label and field selectors, asked of what the cache keeps of an object.

use std::sync::Arc;

use bytes::Bytes;
use machinery::selector::{FieldSelector, LabelSelector};
use storage::KeyRange;
use storage::cache::{Attributes, Change, Entry, Matches, Seen, Selection};

use crate::open::Versions;
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
    /// What tells labels and fields of an object, where those of an entry in another version say nothing.
    versions: Option<Arc<dyn Versions>>,
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
        let asks_more = !predicate.labels.is_empty() || terms.iter().any(|term| matches!(term, Term::Field(..)));
        let versions = store.versions.clone().filter(|versions| asks_more && versions.selects_converted());
        let field = terms.iter().find_map(|term| match term {
            Term::Field(index, true, value) if versions.is_none() => Some((*index, value.as_str().into())),
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
        Selector { range, key, field, terms, labels, is_whole, root, namespaced, versions }
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

    /// Whether what [`Selector::may_match`] lets through has to be converted and looked at once more.
    pub fn is_converted(&self) -> bool {
        self.versions.is_some()
    }

    /// Whether an object in the range is wanted; of an entry that has to be converted, whether its name is.
    pub fn may_match(&self, entry: &Entry) -> bool {
        let is_other = self.versions.as_ref().is_some_and(|versions| !versions.is_read(entry));
        self.matches(entry, (!is_other).then_some(&entry.attributes))
    }

    /// What an entry that [`Selector::may_match`] let through was converted to, if it is wanted.
    pub fn judge(&self, entry: &Arc<Entry>, converted: Arc<Entry>) -> Option<Arc<Entry>> {
        let is_wanted = match &self.versions {
            Some(versions) if !Arc::ptr_eq(entry, &converted) => {
                self.matches(&converted, Some(&versions.attributes(&converted)))
            }
            _ => true,
        };
        is_wanted.then_some(converted)
    }

    /// What a change is to a watcher of these objects.
    pub fn seen(&self, change: &Arc<Change>) -> Option<Seen> {
        let mut seen = change.seen_by(|entry| self.may_match(entry))?;
        seen.change = self.is_converted().then(|| change.clone());
        Some(seen)
    }

    /// Whether name and attributes, where they are known, are what is wanted.
    fn matches(&self, entry: &Entry, attributes: Option<&Attributes>) -> bool {
        self.terms.iter().all(|term| match term {
            Term::Name(equal, value) => (self.names(entry).1 == value.as_bytes()) == *equal,
            Term::Namespace(equal, value) => (self.names(entry).0 == value.as_bytes()) == *equal,
            Term::Field(index, equal, value) => attributes.is_none_or(|has| (has.field(*index) == value) == *equal),
        }) && (self.labels.is_empty() || attributes.is_none_or(|has| self.labels.matches(|name| has.label(name))))
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
            Box::new(move |entry: &Entry| selector.may_match(entry)) as Matches
        });
        let (range, key, field) = (self.range.clone(), self.key.clone(), self.field.clone());
        Selection { range, key, field, matches, whole_changes: self.is_converted() }
    }
}
