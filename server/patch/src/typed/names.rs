//! Sets of fields seen through a type: structs on the way, and types that have become atomic since the set was written.

use crate::field_set::{FieldSet, PathElement};
use crate::schema::{ListKind, Type};

/// The set with the declared fields that lead to its fields (`Set.EnsureNamedFieldsAreMembers`).
pub(crate) fn with_named_fields(set: &FieldSet, of: Option<Type<'_>>) -> FieldSet {
    let map = of.and_then(|of| of.atom().map);
    let mut out = FieldSet { members: set.members.clone(), ..FieldSet::default() };
    for (element, child) in &set.children {
        if let (PathElement::Field(name), Some(map)) = (element, &map)
            && map.field(name).is_some()
        {
            out.members.insert(element.clone());
        }
        let below = match element {
            PathElement::Field(_) | PathElement::Key(_) => of.and_then(|of| of.below(element)),
            _ => None,
        };
        out.children.insert(element.clone(), with_named_fields(child, below));
    }
    out
}

/// Owners of parts of something that has become atomic own it as a whole (`ReconcileFieldSetWithSchema`).
pub(crate) fn reconcile(set: &mut FieldSet, of: Type<'_>) {
    if of.atom().map.is_some_and(|map| map.is_deduced()) {
        return;
    }
    let mut atomic = Vec::new();
    for (element, child) in &mut set.children {
        let Some(below) = of.below(element) else { continue };
        let atom = below.atom();
        let is_atomic = match (atom.map, atom.scalar, atom.list) {
            (Some(map), ..) => map.atomic,
            (None, None, Some(list)) => matches!(list.kind, ListKind::Atomic),
            _ => false,
        };
        if is_atomic {
            atomic.push(element.clone());
        } else {
            reconcile(child, below);
        }
    }
    for element in atomic {
        set.children.remove(&element);
        set.members.insert(element);
    }
}
