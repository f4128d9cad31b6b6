//! The fields that a document sets.

use std::collections::BTreeMap;

use serde_json::Value;

use super::items::element_of;
use crate::field_set::{FieldSet, FieldSetBuilder, PathElement};
use crate::schema::{AtomKind, List, ListKind, Map, SchemaType};

/// Returns the fields that a document sets (`TypedValue.ToFieldSet`). These are scalars, atomic lists
/// and maps, items of lists, members of maps, and structs that are null or empty.
pub fn to_field_set(of: SchemaType<'_>, document: &Value) -> FieldSet {
    below(of, document).0
}

/// Returns the fields below a value, and whether the value itself is one.
fn below(of: SchemaType<'_>, value: &Value) -> (FieldSet, bool) {
    let atom = of.atom();
    match (atom.deduce(value).0, atom.map, atom.list) {
        (Some(AtomKind::Scalar), ..) => (FieldSet::new(), true),
        (Some(AtomKind::Map), Some(map), _) if map.atomic => (FieldSet::new(), true),
        (Some(AtomKind::Map), Some(map), _) => (of_map(&map, value), false),
        (Some(AtomKind::List), _, Some(list)) if matches!(list.kind, ListKind::Atomic) => (FieldSet::new(), true),
        (Some(AtomKind::List), _, Some(list)) => (of_list(&list, value), false),
        _ => (FieldSet::new(), false),
    }
}

fn of_map(map: &Map<'_>, value: &Value) -> FieldSet {
    let mut set = FieldSetBuilder::default();
    for (key, value) in value.as_object().into_iter().flatten() {
        let Some(of) = map.member(key) else { continue };
        let (child, is_leaf) = below(of, value);
        let is_hollow = value.is_null() || value.as_object().is_some_and(|members| members.is_empty());
        set.add(PathElement::field(key), is_leaf || is_hollow || map.field(key).is_none(), child);
    }
    set.build()
}

fn of_list(list: &List<'_>, value: &Value) -> FieldSet {
    let mut set = FieldSetBuilder::default();
    let items: Vec<(PathElement, &Value)> =
        value.as_array().into_iter().flatten().filter_map(|item| Some((element_of(list, item).ok()?, item))).collect();
    let mut count = BTreeMap::new();
    for (element, _) in &items {
        *count.entry(element.clone()).or_insert(0) += 1;
    }
    for (element, item) in items {
        // Items with the same key are owned as one field, without the fields below.
        let child = if count[&element] > 1 { FieldSet::new() } else { below(list.items, item).0 };
        set.add(element, true, child);
    }
    set.build()
}
