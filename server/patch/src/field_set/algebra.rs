//! Sets of fields taken together and from one another: two lists in order, walked beside each other.

use std::cmp::Ordering;
use std::mem::take;

use super::{Entry, FieldSet};

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
                (Some(one), Some(other)) => Some(Entry {
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
            .map(|(one, other)| Entry {
                element: one.element.clone(),
                is_member: one.is_member && other.is_member,
                below: one.below.intersection(&other.below),
            })
            .collect()
    }

    /// Entries of the same fields.
    fn beside<'s>(&'s self, other: &'s FieldSet) -> impl Iterator<Item = (&'s Entry, &'s Entry)> {
        let (mut mine, mut theirs) = (self.entries.iter().peekable(), other.entries.iter().peekable());
        std::iter::from_fn(move || {
            loop {
                match mine.peek()?.element.cmp(&theirs.peek()?.element) {
                    Ordering::Less => drop(mine.next()),
                    Ordering::Greater => drop(theirs.next()),
                    Ordering::Equal => return mine.next().zip(theirs.next()),
                }
            }
        })
    }

    /// The fields that the other set has not; a field of `other` says nothing about those below it.
    pub fn difference(self, other: &FieldSet) -> Self {
        self.without(other, |mine, theirs| {
            mine.is_member &= !theirs.is_member;
            mine.below = take(&mut mine.below).difference(&theirs.below);
        })
    }

    /// The fields that the other set has not, neither themselves nor by a field above them.
    pub fn recursive_difference(self, other: &FieldSet) -> Self {
        self.without(other, |mine, theirs| {
            mine.is_member &= !theirs.is_member;
            mine.below = match theirs.is_member {
                true => FieldSet::new(),
                false => take(&mut mine.below).recursive_difference(&theirs.below),
            };
        })
    }

    fn without(mut self, other: &FieldSet, mut take_away: impl FnMut(&mut Entry, &Entry)) -> Self {
        let mut theirs = other.entries.iter().peekable();
        self.entries.retain_mut(|mine| {
            while theirs.next_if(|theirs| theirs.element < mine.element).is_some() {}
            if let Some(theirs) = theirs.next_if(|theirs| theirs.element == mine.element) {
                take_away(mine, theirs);
            }
            !mine.is_empty()
        });
        self
    }
}
