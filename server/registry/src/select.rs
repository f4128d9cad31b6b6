//! Label and field selectors, evaluated on cached attributes.

use std::sync::Arc;

use bytes::Bytes;
use machinery::selector::{FieldSelector, LabelSelector};
use storage::KeyRange;
use storage::cache::{Change, Entry, LabelsAndFields, Matches, Selection, WatcherEvent};

use crate::resource::ResourceStore;
use crate::versions::VersionConverter;

/// The selectors of a request (`storage.SelectionPredicate`).
///
/// ```
/// use machinery::selector::{FieldSelector, LabelSelector};
/// use registry::Predicate;
///
/// # fn main() -> Result<(), machinery::selector::Error> {
/// let labels = LabelSelector::parse("app=web")?;
/// let fields = FieldSelector::parse("metadata.name=web-1")?;
/// assert!(!Predicate { labels, fields }.is_empty());
/// assert!(Predicate::default().is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Predicate {
    /// The labels that objects must have.
    pub labels: LabelSelector,
    /// The values that fields of objects must have.
    pub fields: FieldSelector,
}

impl Predicate {
    /// Returns whether the selectors select everything.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }
}

/// A term of a field selector, with the source of its value.
enum Term {
    Name(bool, String),
    Namespace(bool, String),
    Field(usize, bool, String),
}

/// A predicate for one resource, with the smallest range or index of its objects.
pub(crate) struct Selector {
    pub range: KeyRange,
    /// The only selected key.
    pub key: Option<Bytes>,
    /// A field with its required value.
    pub field: Option<(usize, Box<str>)>,
    terms: Vec<Term>,
    labels: LabelSelector,
    /// Whether there are no selectors.
    is_whole: bool,
    /// The length of the resource's key prefix.
    root: usize,
    namespaced: bool,
    /// Conversion to the version with the labels and fields to match, if entries in other versions lack them.
    versions: Option<Arc<dyn VersionConverter>>,
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
        let namespace_term = exact("metadata.namespace").filter(|_| store.def.namespaced && namespace.is_empty());
        let within = namespace_term.unwrap_or(namespace);
        let single = exact("metadata.name").filter(|_| !store.def.namespaced || !within.is_empty());
        let key = single.map(|name| Bytes::from(store.key(within, name)));
        let range = key.clone().map_or_else(|| store.range(within), KeyRange::key);
        let needs_attributes = !predicate.labels.is_empty() || terms.iter().any(|term| matches!(term, Term::Field(..)));
        let versions = store.versions.clone().filter(|versions| needs_attributes && versions.selects_converted());
        let field = terms.iter().find_map(|term| match term {
            Term::Field(index, true, value) if versions.is_none() => Some((*index, value.as_str().into())),
            _ => None,
        });
        // Terms that the range already implies are dropped.
        terms.retain(|term| match term {
            Term::Name(true, value) => key.is_none() || single != Some(value.as_str()),
            Term::Namespace(true, value) => !(store.def.namespaced && value == within),
            _ => true,
        });
        let (root, namespaced) = (store.root.len(), store.def.namespaced);
        let (labels, is_whole) = (predicate.labels.clone(), predicate.is_empty());
        Selector { range, key, field, terms, labels, is_whole, root, namespaced, versions }
    }

    /// Returns whether pages have the number of remaining objects: only without selectors, even if the
    /// range implies them.
    pub fn reports_remaining(&self) -> bool {
        self.is_whole
    }

    /// Returns whether everything in the range is selected.
    pub fn selects_all(&self) -> bool {
        self.terms.is_empty() && self.labels.is_empty()
    }

    /// Returns the field and value of the index to use instead of a scan of the range.
    pub fn index(&self) -> Option<(usize, &str)> {
        self.field.as_ref().filter(|_| self.key.is_none()).map(|(field, value)| (*field, &**value))
    }

    /// Returns whether the entries that [`Selector::may_match`] accepts must be converted and matched again.
    pub fn is_converted(&self) -> bool {
        self.versions.is_some()
    }

    /// Returns whether an entry in the range is selected. For an entry that must be converted, only the
    /// name is matched.
    pub fn may_match(&self, entry: &Entry) -> bool {
        let is_other = self.versions.as_ref().is_some_and(|versions| !versions.is_read(entry));
        self.matches(entry, (!is_other).then_some(&entry.attributes))
    }

    /// Returns the converted form of an entry that [`Selector::may_match`] accepted, if it is selected.
    pub fn match_converted(&self, entry: &Arc<Entry>, converted: Arc<Entry>) -> Option<Arc<Entry>> {
        let is_wanted = match &self.versions {
            Some(versions) if !Arc::ptr_eq(entry, &converted) => {
                self.matches(&converted, Some(&versions.attributes(&converted)))
            }
            _ => true,
        };
        is_wanted.then_some(converted)
    }

    /// Returns the event of a change for a watcher of these objects.
    pub fn event_of(&self, change: &Arc<Change>) -> Option<WatcherEvent> {
        let mut seen = change.seen_by(|entry| self.may_match(entry))?;
        seen.change = self.is_converted().then(|| change.clone());
        Some(seen)
    }

    /// Returns whether name and, if known, attributes match.
    fn matches(&self, entry: &Entry, attributes: Option<&LabelsAndFields>) -> bool {
        self.terms.iter().all(|term| match term {
            Term::Name(equal, value) => (self.names(entry).1 == value.as_bytes()) == *equal,
            Term::Namespace(equal, value) => (self.names(entry).0 == value.as_bytes()) == *equal,
            Term::Field(index, equal, value) => attributes.is_none_or(|has| (has.field(*index) == value) == *equal),
        }) && (self.labels.is_empty() || attributes.is_none_or(|has| self.labels.matches(|name| has.label(name))))
    }

    /// Returns namespace and name from the key.
    fn names<'e>(&self, entry: &'e Entry) -> (&'e [u8], &'e [u8]) {
        let rest = entry.key.get(self.root..).unwrap_or_default();
        match rest.iter().position(|byte| *byte == b'/') {
            Some(slash) if self.namespaced => (&rest[..slash], &rest[slash + 1..]),
            _ => (&[], rest),
        }
    }

    /// Returns the selection of a watcher of these objects.
    pub fn selection(self: &Arc<Self>) -> Selection {
        let matches = (!self.selects_all()).then(|| {
            let selector = self.clone();
            Box::new(move |entry: &Entry| selector.may_match(entry)) as Matches
        });
        let (range, key, field) = (self.range.clone(), self.key.clone(), self.field.clone());
        Selection { range, key, field, matches, whole_changes: self.is_converted() }
    }
}
