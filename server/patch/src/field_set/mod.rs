//! Sets of fields, as `metadata.managedFields` records who owns what (structured-merge-diff's `fieldpath.Set`, the `FieldsV1` format).

mod element;
mod filter;
mod json;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value};

pub use element::PathElement;
pub(crate) use element::compare_values;
pub use filter::{Filter, Step};

/// Steps from the root of an object.
pub type Path = Vec<PathElement>;

/// Shows a path: `.spec.containers[name="a"].image`.
pub fn path_text(path: &[PathElement]) -> String {
    path.iter().map(PathElement::to_string).collect()
}

/// Fields of an object. A field may be in the set without its children, and the other way round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    pub(crate) members: BTreeSet<PathElement>,
    /// Never an empty set.
    pub(crate) children: BTreeMap<PathElement, FieldSet>,
}

/// Why a `fieldsV1` could not be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("key must be 2 characters long:")]
    ShortElement,
    #[error("missing colon: {0}")]
    MissingColon(String),
    #[error("invalid path element: {0}")]
    BadElement(String),
    #[error("expected an object")]
    NotAnObject,
}

impl FieldSet {
    pub fn new() -> Self {
        Self::default()
    }

    /// The set of paths of plain names, such as `["metadata", "name"]`.
    pub fn of_names<'n>(paths: impl IntoIterator<Item = &'n [&'n str]>) -> Self {
        let mut set = Self::new();
        for path in paths {
            set.insert(&path.iter().map(|name| PathElement::field(name)).collect::<Path>());
        }
        set
    }

    /// Reads `fieldsV1`. Steps of unknown kinds are dropped, as upstream does.
    pub fn from_value(fields: &Value) -> Result<Self, Error> {
        Ok(read(fields)?.0)
    }

    /// As `fieldsV1`, in upstream's order.
    pub fn to_value(&self) -> Value {
        Value::Object(self.to_map())
    }

    fn to_map(&self) -> Map<String, Value> {
        let mut out = Map::new();
        let names: BTreeSet<&PathElement> = self.members.iter().chain(self.children.keys()).collect();
        for element in names {
            let mut below = Map::new();
            if let Some(child) = self.children.get(element) {
                if self.members.contains(element) {
                    below.insert(".".into(), Value::Object(Map::new()));
                }
                below.extend(child.to_map());
            }
            out.insert(element.to_text(), Value::Object(below));
        }
        out
    }

    /// Adds a field, but not those above it. The root is not a field.
    pub fn insert(&mut self, path: &[PathElement]) {
        match path {
            [] => {}
            [last] => {
                self.members.insert(last.clone());
            }
            [first, rest @ ..] => self.children.entry(first.clone()).or_default().insert(rest),
        }
    }

    pub fn has(&self, path: &[PathElement]) -> bool {
        match path {
            [] => false,
            [last] => self.members.contains(last),
            [first, rest @ ..] => self.children.get(first).is_some_and(|child| child.has(rest)),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.is_empty()
    }

    /// What stands below a step.
    pub fn below(&self, element: &PathElement) -> Option<&FieldSet> {
        self.children.get(element)
    }

    pub fn union(mut self, other: FieldSet) -> Self {
        self.members.extend(other.members);
        for (element, theirs) in other.children {
            let mine = self.children.remove(&element).unwrap_or_default();
            self.children.insert(element, mine.union(theirs));
        }
        self
    }

    pub fn intersection(&self, other: &FieldSet) -> Self {
        let members = self.members.intersection(&other.members).cloned().collect();
        let (fewer, more) = if self.children.len() <= other.children.len() { (self, other) } else { (other, self) };
        let children = fewer.children.iter().filter_map(|(element, one)| {
            let both = one.intersection(more.children.get(element)?);
            (!both.is_empty()).then(|| (element.clone(), both))
        });
        FieldSet { members, children: children.collect() }
    }

    /// The fields that the other set has not; a field of `other` says nothing about those below it.
    pub fn difference(mut self, other: &FieldSet) -> Self {
        for element in &other.members {
            self.members.remove(element);
        }
        self.differ_below(other, FieldSet::difference);
        self
    }

    /// The fields that the other set has not, neither themselves nor by a field above them.
    pub fn recursive_difference(mut self, other: &FieldSet) -> Self {
        for element in &other.members {
            self.members.remove(element);
            self.children.remove(element);
        }
        self.differ_below(other, FieldSet::recursive_difference);
        self
    }

    fn differ_below(&mut self, other: &FieldSet, difference: fn(FieldSet, &FieldSet) -> FieldSet) {
        for (element, theirs) in &other.children {
            if let Some(mine) = self.children.get_mut(element) {
                *mine = difference(std::mem::take(mine), theirs);
                if mine.is_empty() {
                    self.children.remove(element);
                }
            }
        }
    }

    /// Every field's path: those of one level first, then level by level below each.
    pub fn paths(&self) -> Vec<Path> {
        let mut out = Vec::new();
        self.collect(&mut Vec::new(), &mut out);
        out
    }

    fn collect(&self, prefix: &mut Path, out: &mut Vec<Path>) {
        for element in &self.members {
            let mut path = prefix.clone();
            path.push(element.clone());
            out.push(path);
        }
        for (element, child) in &self.children {
            prefix.push(element.clone());
            child.collect(prefix, out);
            prefix.pop();
        }
    }
}

impl fmt::Display for FieldSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let paths: Vec<String> = self.paths().iter().map(|path| path_text(path)).collect();
        f.write_str(&paths.join("\n"))
    }
}

/// What an object of `fieldsV1` says: the fields below, and whether the place itself is a field.
fn read(fields: &Value) -> Result<(FieldSet, bool), Error> {
    let fields = fields.as_object().ok_or(Error::NotAnObject)?;
    let mut set = FieldSet::new();
    let mut is_member = false;
    for (key, value) in fields {
        if key == "." {
            is_member = true;
            continue;
        }
        let Some(element) = PathElement::parse(key)? else { continue };
        let (child, child_is_member) = read(value)?;
        if child_is_member {
            set.members.insert(element.clone());
        }
        if child != FieldSet::default() {
            set.children.insert(element, child);
        }
    }
    let is_leaf = set == FieldSet::default();
    Ok((set, is_member || is_leaf))
}
