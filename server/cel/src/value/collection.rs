//! Lists and maps, borrowed from documents or created.

use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json};

use super::{Text, Value};
use crate::types::{ElementType, Merge, ObjectType, Type};

/// A list.
#[derive(Clone, Debug)]
pub enum ListValue<'a> {
    Items(Arc<Vec<Value<'a>>>),
    /// An array of a document, with its declared type.
    Json(&'a [Json], Option<&'a ElementType>),
}

/// A map, or an object.
#[derive(Clone, Debug)]
pub enum MapValue<'a> {
    Entries(Arc<Vec<(Value<'a>, Value<'a>)>>),
    /// An object of a document, with the type of its members.
    Json(&'a JsonMap<String, Json>, &'a Type),
    /// An object of a document with declared fields.
    Object(&'a JsonMap<String, Json>, &'a ObjectType),
    /// An object that an expression created: type and set fields.
    Made(Arc<ObjectType>, Arc<Vec<(String, Value<'a>)>>),
}

impl<'a> ListValue<'a> {
    pub fn len(&self) -> usize {
        match self {
            ListValue::Items(items) => items.len(),
            ListValue::Json(items, _) => items.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, index: usize) -> Option<Value<'a>> {
        match self {
            ListValue::Items(items) => items.get(index).cloned(),
            ListValue::Json(items, of) => items.get(index).map(|item| super::json::read(item, item_type(*of))),
        }
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Value<'a>> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Whether an item equals a value; `None` if none does and some could not be compared.
    pub(crate) fn contains(&self, value: &Value<'_>) -> Option<bool> {
        let mut found = Some(false);
        for item in self.iter() {
            match item.equality(value) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => found = None,
            }
        }
        found
    }

    /// Whether lists are compared and concatenated with their order and duplicates.
    pub(crate) fn is_atomic(&self) -> bool {
        matches!(self.merge(), Merge::Atomic)
    }

    fn merge(&self) -> &Merge {
        match self {
            ListValue::Json(_, Some(of)) => &of.merge,
            _ => &Merge::Atomic,
        }
    }

    /// Sets and lists with keys are equal in any order (`UnstructuredToVal`).
    pub(super) fn equality(&self, other: &ListValue<'_>) -> Option<bool> {
        if self.len() != other.len() {
            return Some(false);
        }
        match self.merge() {
            Merge::Atomic => all_equal(self.iter().zip(other.iter()).map(|(a, b)| a.equality(&b))),
            Merge::Set | Merge::Map(_) => all_equal(self.iter().map(|item| other.contains(&item))),
        }
    }

    /// `+`: of equal elements, sets keep one; lists with keys replace the first operand's element by
    /// the second's.
    pub(crate) fn concat(&self, other: &ListValue<'a>) -> ListValue<'a> {
        let mut items: Vec<Value<'a>> = self.iter().collect();
        for item in other.iter() {
            let place = match self.merge() {
                Merge::Atomic => None,
                Merge::Set => items.iter().position(|i| i.equals(&item)),
                Merge::Map(keys) => items.iter().position(|i| same_keys(i, &item, keys)),
            };
            match place {
                Some(place) => items[place] = item,
                None => items.push(item),
            }
        }
        ListValue::Items(Arc::new(items))
    }

    /// Appends to a list that an expression created: in place, unless the list is shared.
    pub(crate) fn append(self, more: Vec<Value<'a>>) -> ListValue<'a> {
        match self {
            ListValue::Items(mut items) => {
                Arc::make_mut(&mut items).extend(more);
                ListValue::Items(items)
            }
            list @ ListValue::Json(..) => list.concat(&ListValue::Items(Arc::new(more))),
        }
    }
}

/// The first comparison that does not yield equality decides.
fn all_equal(mut comparisons: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    comparisons.find(|equality| *equality != Some(true)).unwrap_or(Some(true))
}

fn same_keys(a: &Value<'_>, b: &Value<'_>, keys: &[String]) -> bool {
    let (Value::Map(a), Value::Map(b)) = (a, b) else { return false };
    keys.iter().all(|key| match (a.json_member(key), b.json_member(key)) {
        (Some(a), Some(b)) => a.equals(&b),
        (a, b) => a.is_none() && b.is_none(),
    })
}

fn item_type(of: Option<&ElementType>) -> &Type {
    of.map_or(&Type::Dyn, |of| &of.item)
}

impl<'a> MapValue<'a> {
    pub fn len(&self) -> usize {
        match self {
            MapValue::Entries(entries) => entries.len(),
            MapValue::Json(members, _) | MapValue::Object(members, _) => members.len(),
            MapValue::Made(_, fields) => fields.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, key: &Value<'_>) -> Option<Value<'a>> {
        match self {
            MapValue::Entries(entries) => entries.iter().find(|(k, _)| k.equals(key)).map(|(_, value)| value.clone()),
            _ => self.field(key.as_str()?),
        }
    }

    /// The value that a name selects: a field by its name in expressions, or the value of a key.
    pub fn field(&self, name: &str) -> Option<Value<'a>> {
        match self {
            MapValue::Entries(entries) => {
                entries.iter().find(|(k, _)| k.as_str() == Some(name)).map(|(_, value)| value.clone())
            }
            MapValue::Json(members, of) => members.get(name).map(|member| super::json::read(member, of)),
            MapValue::Object(members, of) => {
                let field = of.known(name)?;
                members.get(&field.json).map(|member| super::json::read(member, &field.of))
            }
            MapValue::Made(_, fields) => fields.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone()),
        }
    }

    /// A member by its JSON name.
    fn json_member(&self, name: &str) -> Option<Value<'a>> {
        match self {
            MapValue::Object(members, _) => members.get(name).map(|member| super::json::read(member, &Type::Dyn)),
            _ => self.field(name),
        }
    }

    pub fn entries(&self) -> Vec<(Value<'a>, Value<'a>)> {
        match self {
            MapValue::Entries(entries) => entries.to_vec(),
            MapValue::Json(members, of) => members
                .iter()
                .map(|(key, member)| (Value::String(Text::Borrowed(key)), super::json::read(member, of)))
                .collect(),
            MapValue::Object(members, of) => members
                .iter()
                .filter_map(|(key, member)| {
                    let (name, field) = of.by_json(key)?;
                    Some((Value::String(Text::Borrowed(name)), super::json::read(member, &field.of)))
                })
                .collect(),
            MapValue::Made(_, fields) => {
                fields.iter().map(|(name, value)| (Value::string(name.as_str()), value.clone())).collect()
            }
        }
    }

    pub(super) fn equality(&self, other: &MapValue<'_>) -> Option<bool> {
        if self.len() != other.len() {
            return Some(false);
        }
        let entries = self.entries();
        all_equal(entries.iter().map(|(key, value)| match other.get(key) {
            Some(of_other) => value.equality(&of_other),
            None => Some(false),
        }))
    }

    pub(super) fn type_of(&self) -> Type {
        match self {
            MapValue::Made(of, _) => Type::Object(of.clone()),
            MapValue::Object(_, of) => Type::object(ObjectType::new(of.name.clone(), [])),
            _ => Type::map(Type::Dyn, Type::Dyn),
        }
    }
}
