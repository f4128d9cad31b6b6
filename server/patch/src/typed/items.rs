//! Path elements of list items.

use machinery::json::{Node, NodeForm};
use serde_json::Value;
use smol_str::SmolStr;

use crate::Error;
use crate::field_set::PathElement;
use crate::schema::{KeyFields, List, ListKind};

/// Returns the path element of an item of an associative list (`listItemToPathElement`).
pub(super) fn element_of<'v>(list: &List<'_>, item: impl Into<Node<'v>>) -> Result<PathElement, Error> {
    let item = item.into();
    match list.kind {
        ListKind::Atomic => Err(Error::AtomicList),
        ListKind::Set => match item.form() {
            NodeForm::Object => Err(Error::ObjectInSet),
            NodeForm::List => Err(Error::ListInSet),
            NodeForm::Null => Err(Error::NullInSet),
            NodeForm::Scalar => Ok(PathElement::Value(item.to_tree().into())),
        },
        ListKind::Map(keys) => match item.form() {
            NodeForm::Null => Err(Error::NullInKeyedList),
            NodeForm::Object => by_keys(list, keys, item),
            _ => Err(Error::NotAnObjectInKeyedList),
        },
    }
}

fn by_keys(list: &List<'_>, keys: KeyFields<'_>, item: Node<'_>) -> Result<PathElement, Error> {
    let map = list.items.atom().map.ok_or(Error::KeyedListOfOthers)?;
    let mut fields: Vec<(SmolStr, Value)> = keys
        .iter()
        // A missing key field without a default is omitted, which makes the item a different one.
        .filter_map(|key| Some((key.into(), item.member(key).or_else(|| map.default_of(key))?)))
        .collect();
    if fields.is_empty() {
        return Err(Error::NoKeys(keys.iter().map(ToString::to_string).collect()));
    }
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(PathElement::Key(fields.into()))
}
