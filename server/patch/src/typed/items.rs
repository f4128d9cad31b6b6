//! Path elements of list items.

use machinery::json::{Form, Node};
use serde_json::Value;

use crate::field_set::PathElement;
use crate::schema::{List, ListKind};

/// Returns the path element of an item of an associative list (`listItemToPathElement`); the error is
/// upstream's text.
pub(super) fn element_of<'v>(list: &List<'_>, item: impl Into<Node<'v>>) -> Result<PathElement, String> {
    let item = item.into();
    match list.kind {
        ListKind::Atomic => Err("invalid indexing of non-associative list".into()),
        ListKind::Set => match item.form() {
            Form::Object => Err("associative list without keys has an element that's a map type".into()),
            Form::List => Err("not supported: associative list with lists as elements".into()),
            Form::Null => Err("associative list without keys has an element that's an explicit null".into()),
            Form::Scalar => Ok(PathElement::Value(item.to_tree().into())),
        },
        ListKind::Map(_) => match item.form() {
            Form::Null => Err("associative list with keys may not have a null element".into()),
            Form::Object => by_keys(list, item),
            _ => Err("associative list with keys may not have non-map elements".into()),
        },
    }
}

fn by_keys(list: &List<'_>, item: Node<'_>) -> Result<PathElement, String> {
    let ListKind::Map(keys) = list.kind else { return Err(String::new()) };
    let map = list.items.atom().map.ok_or("associative list may not have non-map types")?;
    let mut fields: Vec<(String, Value)> = keys
        .iter()
        // A missing key field without a default is omitted, which makes the item a different one.
        .filter_map(|key| Some((key.to_string(), item.member(key).or_else(|| map.default_of(key))?)))
        .collect();
    if fields.is_empty() {
        let names: Vec<String> = keys.iter().map(machinery::scalar::go_text::quote).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for any key fields)",
            names.join(" ")
        ));
    }
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(PathElement::Key(fields.into()))
}
