//! Sets of fields, the ownership records in `metadata.managedFields` (structured-merge-diff's
//! `fieldpath.Set`, the `FieldsV1` format).

mod algebra;
mod build;
mod element;
mod filter;
mod json;
mod read;

use std::fmt;

use serde_json::{Map, Value};

pub(crate) use build::FieldSetBuilder;
pub use element::PathElement;
pub(crate) use element::compare_values;
pub use filter::{Filter, PathElementMatcher};

/// Path elements from the root of an object.
pub type FieldPath = Vec<PathElement>;

/// Formats a path: `.spec.containers[name="a"].image`.
pub fn path_text(path: &[PathElement]) -> String {
    path.iter().map(PathElement::to_string).collect()
}

/// A set of fields of an object. A field may be in the set without its children, and children without
/// their parent.
///
/// The entries are an ordered list, because sets are read, compared and written far more often than
/// entries are inserted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// Ordered by element; no entry is empty.
    entries: Vec<SetNode>,
}

/// A field that is in a set, or has fields below it that are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SetNode {
    pub element: PathElement,
    pub is_member: bool,
    pub below: FieldSet,
}

impl SetNode {
    fn is_empty(&self) -> bool {
        !self.is_member && self.below.is_empty()
    }
}

impl FieldSet {
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the set of paths of plain names, such as `["metadata", "name"]`.
    pub fn of_names<'n>(paths: impl IntoIterator<Item = &'n [&'n str]>) -> Self {
        let mut set = Self::new();
        for path in paths {
            set.insert(&path.iter().map(|name| PathElement::field(name)).collect::<FieldPath>());
        }
        set
    }

    /// Returns the `fieldsV1` form, in upstream's order.
    pub fn to_value(&self) -> Value {
        Value::Object(self.to_map())
    }

    fn to_map(&self) -> Map<String, Value> {
        let mut out = Map::new();
        for SetNode { element, is_member, below } in &self.entries {
            let mut map = Map::new();
            if *is_member && !below.is_empty() {
                map.insert(".".into(), Value::Object(Map::new()));
            }
            map.extend(below.to_map());
            out.insert(element.to_text(), Value::Object(map));
        }
        out
    }

    /// Adds a field, but not its parents. The root is not a field.
    pub fn insert(&mut self, path: &[PathElement]) {
        match path {
            [] => {}
            [last] => self.add(last.clone(), true, FieldSet::new()),
            [first, rest @ ..] => {
                let mut below = FieldSet::new();
                below.insert(rest);
                self.add(first.clone(), false, below);
            }
        }
    }

    /// Adds a field, if it is a member, with the fields below it.
    pub(crate) fn add(&mut self, element: PathElement, is_member: bool, below: FieldSet) {
        let entry = SetNode { element, is_member, below };
        if entry.is_empty() {
            return;
        }
        // Fields usually arrive in order.
        if self.entries.last().is_none_or(|last| last.element < entry.element) {
            return self.entries.push(entry);
        }
        match self.find(&entry.element) {
            Ok(at) => {
                let known = &mut self.entries[at];
                known.is_member |= entry.is_member;
                known.below = std::mem::take(&mut known.below).union(entry.below);
            }
            Err(at) => self.entries.insert(at, entry),
        }
    }

    fn find(&self, element: &PathElement) -> Result<usize, usize> {
        self.entries.binary_search_by(|entry| entry.element.cmp(element))
    }

    fn get(&self, element: &PathElement) -> Option<&SetNode> {
        self.find(element).ok().map(|at| &self.entries[at])
    }

    pub(crate) fn entries(&self) -> &[SetNode] {
        &self.entries
    }

    pub(crate) fn entries_mut(&mut self) -> &mut [SetNode] {
        &mut self.entries
    }

    pub fn has(&self, path: &[PathElement]) -> bool {
        match path {
            [] => false,
            [last] => self.get(last).is_some_and(|entry| entry.is_member),
            [first, rest @ ..] => self.get(first).is_some_and(|entry| entry.below.has(rest)),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the non-empty set below an element.
    pub fn below(&self, element: &PathElement) -> Option<&FieldSet> {
        self.get(element).map(|entry| &entry.below).filter(|below| !below.is_empty())
    }

    /// Returns the path of every field: the fields of one level first, then those below each of them.
    pub fn paths(&self) -> Vec<FieldPath> {
        let mut room = usize::MAX;
        self.paths_within(&mut room)
    }

    /// Returns the first of [`FieldSet::paths`] whose texts fit into `room` bytes, with shared elements
    /// counted per path.
    pub(crate) fn paths_within(&self, room: &mut usize) -> Vec<FieldPath> {
        let mut out = Vec::new();
        self.collect(&mut Vec::new(), 0, room, &mut out);
        out
    }

    fn collect(&self, prefix: &mut FieldPath, prefix_size: usize, room: &mut usize, out: &mut Vec<FieldPath>) {
        for entry in self.entries.iter().filter(|entry| entry.is_member) {
            *room = room.saturating_sub(prefix_size + entry.element.size());
            // The first path is always included: an empty list means that there is no field.
            if *room == 0 && !out.is_empty() {
                return;
            }
            let mut path = prefix.clone();
            path.push(entry.element.clone());
            out.push(path);
        }
        for entry in &self.entries {
            prefix.push(entry.element.clone());
            entry.below.collect(prefix, prefix_size + entry.element.size(), room, out);
            prefix.pop();
            if *room == 0 && !out.is_empty() {
                return;
            }
        }
    }
}

impl FromIterator<SetNode> for FieldSet {
    /// Creates a set from ordered entries; drops empty ones.
    fn from_iter<T: IntoIterator<Item = SetNode>>(entries: T) -> Self {
        FieldSet { entries: entries.into_iter().filter(|entry| !entry.is_empty()).collect() }
    }
}

impl fmt::Display for FieldSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let paths: Vec<String> = self.paths().iter().map(|path| path_text(path)).collect();
        f.write_str(&paths.join("\n"))
    }
}
