//! Set algebra on fields: two ordered lists are traversed in parallel.

use std::cmp::Ordering;
use std::mem::take;

use super::{FieldSet, PathElement, SetNode};

impl FieldSet {
    pub fn union(self, other: FieldSet) -> Self {
        if self.is_empty() || other.is_empty() {
            return if self.is_empty() { other } else { self };
        }
        let mut entries = Vec::with_capacity(self.entries.len() + other.entries.len());
        let (mut mine, mut theirs) = (self.entries.into_iter().peekable(), other.entries.into_iter().peekable());
        while let (Some(one), Some(other)) = (mine.peek(), theirs.peek()) {
            let order = one.element.cmp(&other.element);
            let one = if order.is_le() { mine.next() } else { None };
            let other = if order.is_ge() { theirs.next() } else { None };
            entries.extend(match (one, other) {
                (Some(one), Some(other)) => Some(SetNode {
                    element: one.element,
                    is_member: one.is_member || other.is_member,
                    below: one.below.union(other.below),
                }),
                (one, other) => one.or(other),
            });
        }
        entries.extend(mine.chain(theirs));
        FieldSet { entries }
    }

    pub fn intersection(&self, other: &FieldSet) -> Self {
        self.beside(other)
            .map(|(one, other)| SetNode {
                element: one.element.clone(),
                is_member: one.is_member && other.is_member,
                below: one.below.intersection(&other.below),
            })
            .collect()
    }

    /// Iterates over the entries of fields that are in both sets.
    fn beside<'s>(&'s self, other: &'s FieldSet) -> impl Iterator<Item = (&'s SetNode, &'s SetNode)> {
        let (mut mine, mut theirs) = (self.entries.as_slice(), other.entries.as_slice());
        std::iter::from_fn(move || {
            loop {
                let (one, other) = (mine.first()?, theirs.first()?);
                match one.element.cmp(&other.element) {
                    Ordering::Less => mine = from(mine, &other.element),
                    Ordering::Greater => theirs = from(theirs, &one.element),
                    Ordering::Equal => {
                        (mine, theirs) = (&mine[1..], &theirs[1..]);
                        return Some((one, other));
                    }
                }
            }
        })
    }

    /// Returns the fields that are not in `other`; a field of `other` does not affect the fields below it.
    pub fn difference(self, other: &FieldSet) -> Self {
        self.without(other, |mine, theirs| {
            mine.is_member &= !theirs.is_member;
            mine.below = take(&mut mine.below).difference(&theirs.below);
        })
    }

    /// Returns the fields that are not in `other` and not below a field of `other`.
    pub fn recursive_difference(self, other: &FieldSet) -> Self {
        self.without(other, |mine, theirs| {
            mine.is_member &= !theirs.is_member;
            mine.below = match theirs.is_member {
                true => FieldSet::new(),
                false => take(&mut mine.below).recursive_difference(&theirs.below),
            };
        })
    }

    fn without(mut self, other: &FieldSet, mut take_away: impl FnMut(&mut SetNode, &SetNode)) -> Self {
        let mut rest = other.entries.as_slice();
        self.entries.retain_mut(|mine| {
            rest = from(rest, &mine.element);
            if let Some(theirs) = rest.first().filter(|theirs| theirs.element == mine.element) {
                take_away(mine, theirs);
            }
            !mine.is_empty()
        });
        self
    }
}

/// Returns the entries from an element on. The cost is logarithmic in the number of skipped entries: a
/// large set of changes is compared with the small sets of many managers.
fn from<'e>(entries: &'e [SetNode], element: &PathElement) -> &'e [SetNode] {
    let mut step = 1;
    while entries.get(step - 1).is_some_and(|entry| entry.element < *element) {
        step *= 2;
    }
    let (low, high) = (step / 2, entries.len().min(step));
    &entries[low + entries[low..high].partition_point(|entry| entry.element < *element)..]
}
