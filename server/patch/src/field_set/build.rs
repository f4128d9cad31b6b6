//! Builds a set from fields in any order, in O(n log n).

use super::{FieldSet, PathElement, SetNode};

/// Up to this many fields are kept in order while they are added. Fields of structs arrive nearly in
/// order, and insertion then takes fewer comparisons than sorting.
const FEW: usize = 32;

/// Collects fields in any order. [`FieldSetBuilder::build`] sorts them once if there are many.
#[derive(Debug, Default)]
pub(crate) struct FieldSetBuilder {
    entries: Vec<SetNode>,
    is_unordered: bool,
}

impl FieldSetBuilder {
    /// Adds a field, if it is a member, with the fields below it.
    pub fn add(&mut self, element: PathElement, is_member: bool, below: FieldSet) {
        self.push(SetNode { element, is_member, below });
    }

    /// Adds all fields of a set.
    pub fn extend(&mut self, set: FieldSet) {
        if self.entries.is_empty() {
            self.entries = set.entries;
            return;
        }
        set.entries.into_iter().for_each(|entry| self.push(entry));
    }

    fn push(&mut self, entry: SetNode) {
        if entry.is_empty() {
            return;
        }
        if !self.is_unordered && self.entries.last().is_some_and(|last| last.element >= entry.element) {
            match self.entries.binary_search_by(|known| known.element.cmp(&entry.element)) {
                Err(at) if self.entries.len() <= FEW => return self.entries.insert(at, entry),
                // Entries of one element are merged once at the end; one by one would take quadratic time.
                _ => self.is_unordered = true,
            }
        }
        self.entries.push(entry);
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn build(self) -> FieldSet {
        FieldSet { entries: if self.is_unordered { ordered(self.entries) } else { self.entries } }
    }
}

impl FieldSet {
    /// Returns the union of any number of sets.
    pub(crate) fn union_of(sets: impl IntoIterator<Item = FieldSet>) -> FieldSet {
        let mut builder = FieldSetBuilder::default();
        sets.into_iter().for_each(|set| builder.extend(set));
        builder.build()
    }
}

/// Sorts entries. Entries of one element are merged; their children are sorted together, once per level.
fn ordered(mut entries: Vec<SetNode>) -> Vec<SetNode> {
    entries.sort_by(|one, other| one.element.cmp(&other.element));
    let mut united: Vec<SetNode> = Vec::with_capacity(entries.len());
    let mut entries = entries.into_iter().peekable();
    while let Some(mut entry) = entries.next() {
        let mut more = Vec::new();
        while let Some(next) = entries.next_if(|next| next.element == entry.element) {
            entry.is_member |= next.is_member;
            more.extend(next.below.entries);
        }
        if !more.is_empty() {
            let mut below = std::mem::take(&mut entry.below.entries);
            below.extend(more);
            entry.below = FieldSet { entries: ordered(below) };
        }
        united.push(entry);
    }
    united
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_adding_one_by_one() {
        let names = ["b", "a", "c", "a", "b", "d", "a"];
        assert_same(&names);
        let names: Vec<String> = (0..100).map(|index| format!("{}", index * 37 % 101)).collect();
        assert_same(&names.iter().map(String::as_str).collect::<Vec<_>>());
    }

    fn assert_same(names: &[&str]) {
        let (mut one_by_one, mut builder) = (FieldSet::new(), FieldSetBuilder::default());
        for (index, name) in names.iter().enumerate() {
            let mut below = FieldSet::new();
            below.insert(&[PathElement::field(names[(index * 3) % names.len()])]);
            one_by_one.add(PathElement::field(name), index % 2 == 0, below.clone());
            builder.add(PathElement::field(name), index % 2 == 0, below);
        }
        assert_eq!(builder.build(), one_by_one);
    }
}
