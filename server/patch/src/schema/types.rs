//! The types of a schema. They contain each other.

use machinery::def::{FieldDef, StructDef};
use serde_json::Value;

/// A type; cheap to copy.
#[derive(Clone, Copy)]
pub enum SchemaType<'s> {
    /// A declared struct.
    Struct(&'static StructDef),
    /// A field of a declared struct.
    Field(&'static FieldDef),
    /// An item of the list or map of such a field.
    Item(&'static FieldDef),
    /// A struct with `x-kubernetes-map-type` overridden by a field.
    Overridden(&'static StructDef, bool),
    /// A type of a custom resource.
    Custom(&'s CustomType),
    /// Any value: maps merge by key, lists are replaced (`__untyped_deduced_`).
    Deduced,
    /// Any value, replaced as a whole (`__untyped_atomic_`).
    Untyped,
    /// A string: the items of a struct that is a plain list in JSON.
    Text,
}

/// The alternatives of a type.
#[derive(Clone, Copy, Default)]
pub struct Atom<'s> {
    pub scalar: Option<Scalar>,
    pub list: Option<List<'s>>,
    pub map: Option<Map<'s>>,
}

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    Numeric,
    String,
    Boolean,
    /// Any scalar.
    Untyped,
}

/// A list type.
#[derive(Clone, Copy)]
pub struct List<'s> {
    pub kind: ListKind<'s>,
    pub items: SchemaType<'s>,
}

/// How lists merge.
#[derive(Clone, Copy)]
pub enum ListKind<'s> {
    /// As a whole.
    Atomic,
    /// As a set of scalars.
    Set,
    /// By key fields.
    Map(KeyFields<'s>),
}

/// Names of key fields.
#[derive(Clone, Copy)]
pub enum KeyFields<'s> {
    Declared(&'static [&'static str]),
    Custom(&'s [String]),
}

/// A type of objects.
#[derive(Clone, Copy)]
pub struct Map<'s> {
    pub atomic: bool,
    pub(super) fields: MapFields<'s>,
    /// The type of undeclared members; `None` if they are not allowed.
    pub element: Option<SchemaType<'s>>,
}

#[derive(Clone, Copy)]
pub(super) enum MapFields<'s> {
    None,
    Declared(&'static StructDef),
    Custom(&'s CustomMap),
}

/// A type of a custom resource.
#[derive(Clone, Debug, Default)]
pub struct CustomType {
    pub scalar: Option<Scalar>,
    pub list: Option<Box<CustomList>>,
    pub map: Option<Box<CustomMap>>,
    /// The type is unknown: merges like [`SchemaType::Deduced`].
    pub deduced: bool,
    /// The declared struct of this type; set for `metadata`.
    pub described: Option<&'static StructDef>,
}

/// A list of a custom resource.
#[derive(Clone, Debug)]
pub struct CustomList {
    pub items: CustomType,
    /// Merged by item; without `keys` as a set.
    pub associative: bool,
    pub keys: Vec<String>,
}

/// An object of a custom resource.
#[derive(Clone, Debug, Default)]
pub struct CustomMap {
    pub atomic: bool,
    /// Sorted by name.
    pub fields: Box<[(Box<str>, CustomField)]>,
    pub element: Option<Box<CustomType>>,
}

/// A field of an object.
#[derive(Clone, Debug)]
pub struct CustomField {
    pub of: CustomType,
    pub default: Option<Box<Value>>,
}
