//! Validation of a document's types, with upstream's messages.

use std::collections::BTreeSet;
use std::fmt;

use machinery::json::{Node, NodeForm};
use serde_json::Value;

use super::items::element_of;
use crate::error::TypeError;
use crate::field_set::PathElement;
use crate::schema::{AtomKind, List, ListKind, Map, Scalar, SchemaType};
use crate::{Error, go_print};

/// Whether lists may have several items of one key: live objects may, applied configurations may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    Allowed,
    Refused,
}

/// Validates the types of a document (`typed.AsTyped`).
///
/// # Errors
/// [`Error::Types`] with every value that does not have its type.
pub fn validate(of: SchemaType<'_>, document: &Value, duplicates: Duplicates) -> Result<(), Error> {
    let mut walker = Walker { duplicates, errors: Vec::new() };
    walker.value(of, document);
    if walker.errors.is_empty() { Ok(()) } else { Err(Error::Types(walker.errors)) }
}

/// Returns whether the members of an object that its schema declares have their types; lists may have
/// several items of one key. The metadata is a struct, which always has its types.
pub fn content_has_types<'v>(of: SchemaType<'_>, object: impl Into<Node<'v>>) -> bool {
    let (Some(root), mut all) = (of.atom().map, true) else { return true };
    object.into().each_member(&mut |name, member| {
        let of = root.member(name).filter(|_| !matches!(name, "apiVersion" | "kind" | "metadata"));
        all &= of.is_none_or(|of| has_type(of, member));
    });
    all
}

fn has_type(of: SchemaType<'_>, value: Node<'_>) -> bool {
    let atom = of.atom();
    let (Some(kind), form) = (atom.deduce(value).0, value.form()) else { return false };
    match (kind, form) {
        (_, NodeForm::Null) => true,
        (AtomKind::Map, NodeForm::Object) => atom.map.is_some_and(|map| {
            let mut all = true;
            value.each_member(&mut |name, member| all &= map.member(name).is_some_and(|of| has_type(of, member)));
            all
        }),
        (AtomKind::List, NodeForm::List) => atom.list.is_some_and(|list| {
            let is_item = |item: &Node<'_>| {
                let is_named = matches!(list.kind, ListKind::Atomic) || element_of(&list, *item).is_ok();
                is_named && has_type(list.items, *item)
            };
            value.items(|items| items.iter().all(is_item))
        }),
        (AtomKind::Scalar, NodeForm::Scalar) => atom.scalar.is_some_and(|scalar| match value {
            Node::Tree(tree) => scalar_error(scalar, tree).is_none(),
            other => scalar_error(scalar, &other.to_tree()).is_none(),
        }),
        _ => false,
    }
}

struct Walker {
    duplicates: Duplicates,
    errors: Vec<TypeError>,
}

impl Walker {
    fn value(&mut self, of: SchemaType<'_>, value: &Value) {
        let atom = of.atom();
        match atom.deduce(value).0 {
            Some(AtomKind::Map) => atom.map.iter().for_each(|map| self.map(map, value)),
            Some(AtomKind::Scalar) => {
                if let Some(message) = atom.scalar.and_then(|scalar| scalar_error(scalar, value)) {
                    self.error(message);
                }
            }
            Some(AtomKind::List) => atom.list.iter().for_each(|list| self.list(list, value)),
            None => self.error("schema error: invalid atom: inlined".into()),
        }
    }

    fn error(&mut self, message: String) {
        self.errors.push(TypeError { steps: Vec::new(), message });
    }

    /// Validates a value below; its errors get the path element as a prefix.
    fn below(&mut self, element: &dyn fmt::Display, look: impl FnOnce(&mut Self)) {
        let before = self.errors.len();
        look(self);
        for error in &mut self.errors[before..] {
            error.steps.push(element.to_string());
        }
    }

    fn map(&mut self, map: &Map<'_>, value: &Value) {
        let members = match value {
            Value::Null => return,
            Value::Object(members) => members,
            other => return self.error(format!("expected map, got &{{{}}}", go_print::plain(other))),
        };
        for (key, value) in members {
            let element = PathElement::field(key);
            match map.member(key) {
                Some(of) => self.below(&element, |walker| walker.value(of, value)),
                None => {
                    // As in upstream, the rest of the object is not validated.
                    self.below(&element, |walker| walker.error("field not declared in schema".into()));
                    return;
                }
            }
        }
    }

    fn list(&mut self, list: &List<'_>, value: &Value) {
        let items = match value {
            Value::Null => return,
            Value::Array(items) => items,
            other => return self.error(format!("expected list, got &{{{}}}", go_print::plain(other))),
        };
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            let element = match list.kind {
                ListKind::Atomic => PathElement::Index(index as i64),
                _ => match element_of(list, item) {
                    Ok(element) => element,
                    Err(why) => return self.error(format!("element {index}: {why}")),
                },
            };
            let is_duplicate = !matches!(list.kind, ListKind::Atomic) && !seen.insert(element.clone());
            if is_duplicate && self.duplicates == Duplicates::Refused {
                self.error(format!("duplicate entries for key {element}"));
            }
            self.below(&element, |walker| walker.value(list.items, item));
        }
    }
}

fn scalar_error(scalar: Scalar, value: &Value) -> Option<String> {
    match (scalar, value) {
        (_, Value::Null)
        | (Scalar::Numeric, Value::Number(_))
        | (Scalar::String, Value::String(_))
        | (Scalar::Boolean, Value::Bool(_))
        | (Scalar::Untyped, Value::Number(_) | Value::String(_) | Value::Bool(_)) => None,
        (Scalar::Numeric, other) => {
            Some(format!("expected numeric (int or float), got {}", go_print::type_name(other)))
        }
        (Scalar::String, other) => {
            Some(format!("expected string, got &value.valueUnstructured{{Value:{}}}", go_print::syntax(other)))
        }
        (Scalar::Boolean, other) => Some(format!("expected boolean, got &{{{}}}", go_print::plain(other))),
        (Scalar::Untyped, other) => Some(format!("expected any scalar, got &{{{}}}", go_print::plain(other))),
    }
}
