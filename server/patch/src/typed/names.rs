//! Adaptation of field sets to a type: adds declared parents, and adapts to types that have become
//! atomic since.

use crate::field_set::{FieldSet, PathElement, SetNode};
use crate::schema::{ListKind, SchemaType};

/// Adds the declared fields above the fields of a set (`Set.EnsureNamedFieldsAreMembers`).
pub(crate) fn with_named_fields(set: &FieldSet, of: Option<SchemaType<'_>>) -> FieldSet {
    let map = of.and_then(|of| of.atom().map);
    let named = |SetNode { element, is_member, below }: &SetNode| {
        let is_on_the_way = match (element, &map) {
            (PathElement::Field(name), Some(map)) => !below.is_empty() && map.field(name).is_some(),
            _ => false,
        };
        let of_below = match element {
            PathElement::Field(_) | PathElement::Key(_) => of.and_then(|of| of.below(element)),
            _ => None,
        };
        let below = with_named_fields(below, of_below);
        SetNode { element: element.clone(), is_member: *is_member || is_on_the_way, below }
    };
    set.entries().iter().map(named).collect()
}

/// Makes owners of parts of a value that has become atomic own it as a whole (`ReconcileFieldSetWithSchema`).
pub(crate) fn reconcile(set: &mut FieldSet, of: SchemaType<'_>) {
    if of.atom().map.is_some_and(|map| map.is_deduced()) {
        return;
    }
    for entry in set.entries_mut().iter_mut().filter(|entry| !entry.below.is_empty()) {
        let Some(below) = of.below(&entry.element) else { continue };
        let atom = below.atom();
        let is_atomic = match (atom.map, atom.scalar, atom.list) {
            (Some(map), ..) => map.atomic,
            (None, None, Some(list)) => matches!(list.kind, ListKind::Atomic),
            _ => false,
        };
        if is_atomic {
            entry.is_member = true;
            entry.below = FieldSet::new();
        } else {
            reconcile(&mut entry.below, below);
        }
    }
}
