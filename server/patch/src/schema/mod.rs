//! Merge behaviour of types in server-side apply: one view of descriptors and of custom resources' schemas.
//!
//! It corresponds to upstream's `kube-openapi/pkg/schemaconv` for OpenAPI. Every type can be a scalar,
//! a list and a map; the value determines which of them applies.

mod custom;
mod described;
mod types;

use machinery::def::StructDef;
use machinery::json::{Node, NodeForm};
use serde_json::Value;

pub(crate) use described::keys_to_miss;
use types::MapFields;
pub use types::{
    Atom, CustomField, CustomList, CustomMap, CustomType, KeyFields, List, ListKind, Map, Scalar, SchemaType,
};

impl<'s> KeyFields<'s> {
    pub fn iter(self) -> impl Iterator<Item = &'s str> {
        let (declared, custom): (&'static [&'static str], &'s [String]) = match self {
            KeyFields::Declared(names) => (names, &[]),
            KeyFields::Custom(names) => (&[], names),
        };
        declared.iter().copied().chain(custom.iter().map(String::as_str))
    }
}

impl<'s> SchemaType<'s> {
    /// Returns the alternatives of the type.
    pub fn atom(self) -> Atom<'s> {
        match self {
            SchemaType::Struct(def) => described::of_struct(def, def.atomic),
            SchemaType::Overridden(def, atomic) => described::of_struct(def, atomic),
            SchemaType::Field(field) => described::of_field(field),
            SchemaType::Item(field) => described::of_item(field),
            SchemaType::Custom(custom) => custom.atom(),
            SchemaType::Deduced => {
                anything(Map { atomic: false, fields: MapFields::None, element: Some(SchemaType::Deduced) })
            }
            SchemaType::Untyped => {
                anything(Map { atomic: true, fields: MapFields::None, element: Some(SchemaType::Untyped) })
            }
            SchemaType::Text => Atom { scalar: Some(Scalar::String), ..Atom::default() },
        }
    }

    /// Returns the type of a member or item; `None` if there cannot be one.
    pub(crate) fn below(self, element: &crate::field_set::PathElement) -> Option<SchemaType<'s>> {
        use crate::field_set::PathElement;
        let atom = self.atom();
        match element {
            PathElement::Field(name) => atom.map?.member(name),
            PathElement::Key(_) | PathElement::Value(_) => Some(atom.list?.items),
            PathElement::Index(_) => None,
        }
    }
}

fn anything(map: Map<'_>) -> Atom<'_> {
    let list = List { kind: ListKind::Atomic, items: SchemaType::Untyped };
    Atom { scalar: Some(Scalar::Untyped), list: Some(list), map: Some(map) }
}

impl<'s> Map<'s> {
    /// Returns the type of a declared field.
    pub fn field(&self, name: &str) -> Option<SchemaType<'s>> {
        match self.fields {
            MapFields::None => None,
            MapFields::Declared(def) => def.json_field(name).map(SchemaType::Field),
            MapFields::Custom(map) => map.field(name).map(|field| SchemaType::Custom(&field.of)),
        }
    }

    /// Returns the struct that declares all members.
    pub(crate) fn declared(&self) -> Option<&'static StructDef> {
        match self.fields {
            MapFields::Declared(def) => Some(def),
            MapFields::None | MapFields::Custom(_) => None,
        }
    }

    /// Returns the type of a member, declared or not.
    pub fn member(&self, name: &str) -> Option<SchemaType<'s>> {
        self.field(name).or(self.element)
    }

    /// Returns the default of a missing key field.
    pub(crate) fn default_of(&self, name: &str) -> Option<Value> {
        match self.fields {
            MapFields::None => None,
            MapFields::Declared(def) => described::default_of(def.json_field(name)?),
            MapFields::Custom(map) => map.field(name)?.default.as_deref().cloned(),
        }
    }

    /// Returns whether the types of the members are unknown.
    pub(crate) fn is_deduced(&self) -> bool {
        matches!(self.fields, MapFields::None) && matches!(self.element, Some(SchemaType::Deduced))
    }
}

/// The alternative of a type that applies to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomKind {
    Map,
    Scalar,
    List,
}

impl Atom<'_> {
    /// Returns the alternative that applies, and whether the value determines it (`deduceAtom`).
    pub(crate) fn deduce<'v>(&self, value: impl Into<Node<'v>>) -> (Option<AtomKind>, bool) {
        let fits = match value.into().form() {
            NodeForm::Null => None,
            NodeForm::List => self.list.map(|_| AtomKind::List),
            NodeForm::Object => self.map.map(|_| AtomKind::Map),
            NodeForm::Scalar => self.scalar.map(|_| AtomKind::Scalar),
        };
        let alone =
            [self.scalar.is_some(), self.list.is_some(), self.map.is_some()].iter().filter(|is| **is).count() == 1;
        match fits {
            Some(kind) => (Some(kind), true),
            None => (self.kind(), alone),
        }
    }

    /// Returns the alternative that applies when the value does not determine it.
    pub(crate) fn kind(&self) -> Option<AtomKind> {
        match (self.map, self.scalar, self.list) {
            (Some(_), _, _) => Some(AtomKind::Map),
            (None, Some(_), _) => Some(AtomKind::Scalar),
            (None, None, Some(_)) => Some(AtomKind::List),
            (None, None, None) => None,
        }
    }
}
