//! Types of expressions.

use std::fmt;
use std::sync::Arc;

use imbl::OrdMap;

/// The static type of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// Any type; checked at evaluation.
    Dyn,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Timestamp,
    Duration,
    List(Arc<ElementType>),
    /// Keys and values.
    Map(Arc<(Type, Type)>),
    Optional(Arc<Type>),
    /// The type of types.
    Kind(Arc<Type>),
    Object(Arc<ObjectType>),
    /// A library type, such as quantities and addresses.
    Opaque(&'static str),
    /// An unknown type: a parameter of a declaration (`A`), or an inferred type of one call.
    Param(usize),
}

/// The element type of a list, and how such lists are compared and concatenated.
#[derive(Clone, Debug)]
pub struct ElementType {
    pub item: Type,
    pub merge: Merge,
}

/// `x-kubernetes-list-type`
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    Atomic,
    Set,
    /// Elements are identified by these members (JSON names).
    Map(Vec<String>),
}

impl PartialEq for ElementType {
    fn eq(&self, other: &Self) -> bool {
        self.item == other.item
    }
}

/// A type with named fields.
pub struct ObjectType {
    pub name: String,
    pub fields: ObjectFields,
}

/// Fields of an object type.
pub enum ObjectFields {
    /// Fields by name in expressions. The map shares structure with its copies, because each variable
    /// of an admission policy is compiled with a type that contains the variables before it.
    Known(OrdMap<String, FieldType>),
    /// Any name is a field; its type depends on the names of the type and the field.
    Open(fn(of: &str, field: &str) -> Type),
}

/// A field of an object.
#[derive(Clone, Debug)]
pub struct FieldType {
    /// JSON name.
    pub json: String,
    pub of: Type,
}

impl ObjectType {
    /// A type with fields that have the same name in JSON and in expressions.
    pub fn new<'a>(name: impl Into<String>, fields: impl IntoIterator<Item = (&'a str, Type)>) -> Self {
        let fields = fields.into_iter().map(|(json, of)| (json.to_owned(), FieldType { json: json.to_owned(), of }));
        ObjectType { name: name.into(), fields: ObjectFields::Known(fields.collect()) }
    }

    /// The type with one more field, with the same name in JSON and in expressions. The cost is
    /// logarithmic in the number of fields. An open type is returned unchanged.
    pub fn with_field(&self, name: &str, of: Type) -> Self {
        let fields = match &self.fields {
            ObjectFields::Known(fields) => {
                ObjectFields::Known(fields.update(name.to_owned(), FieldType { json: name.to_owned(), of }))
            }
            ObjectFields::Open(of) => ObjectFields::Open(*of),
        };
        ObjectType { name: self.name.clone(), fields }
    }

    /// The type of a field; `None` if there is no such field.
    pub fn field(&self, name: &str) -> Option<Type> {
        match &self.fields {
            ObjectFields::Known(fields) => fields.get(name).map(|f| f.of.clone()),
            ObjectFields::Open(of) => Some(of(&self.name, name)),
        }
    }

    pub(crate) fn known(&self, name: &str) -> Option<&FieldType> {
        match &self.fields {
            ObjectFields::Known(fields) => fields.get(name),
            ObjectFields::Open(_) => None,
        }
    }

    /// The name of a field in expressions, by its JSON name.
    pub(crate) fn by_json(&self, json: &str) -> Option<(&str, &FieldType)> {
        match &self.fields {
            ObjectFields::Known(fields) => {
                fields.iter().find(|(_, f)| f.json == json).map(|(name, f)| (name.as_str(), f))
            }
            ObjectFields::Open(_) => None,
        }
    }
}

impl PartialEq for ObjectType {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for ObjectType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Type {
    /// A list without merge semantics.
    pub fn list(item: Type) -> Self {
        Type::List(Arc::new(ElementType { item, merge: Merge::Atomic }))
    }

    pub fn map(key: Type, value: Type) -> Self {
        Type::Map(Arc::new((key, value)))
    }

    pub fn optional(of: Type) -> Self {
        Type::Optional(Arc::new(of))
    }

    pub fn object(of: ObjectType) -> Self {
        Type::Object(Arc::new(of))
    }

    /// The type that a name in an expression denotes, such as `int`.
    pub(crate) fn named(name: &str) -> Option<Type> {
        Some(match name {
            "bool" => Type::Bool,
            "int" => Type::Int,
            "uint" => Type::Uint,
            "double" => Type::Double,
            "string" => Type::String,
            "bytes" => Type::Bytes,
            "null_type" => Type::Null,
            "list" => Type::list(Type::Dyn),
            "map" => Type::map(Type::Dyn, Type::Dyn),
            "type" => Type::Kind(Arc::new(Type::Dyn)),
            "optional_type" => Type::optional(Type::Dyn),
            "google.protobuf.Timestamp" => Type::Timestamp,
            "google.protobuf.Duration" => Type::Duration,
            _ => return None,
        })
    }

    /// The type as spelled in declarations: `null_type`, `list(int)`.
    pub fn declared_name(&self) -> String {
        match self {
            Type::List(list) => format!("list({})", list.item.declared_name()),
            Type::Map(map) => format!("map({}, {})", map.0.declared_name(), map.1.declared_name()),
            Type::Optional(of) => format!("optional_type({})", of.declared_name()),
            Type::Kind(of) => format!("type({})", of.declared_name()),
            _ => self.base_name().to_owned(),
        }
    }

    /// The name of the type at evaluation, without parameters.
    pub(crate) fn base_name(&self) -> &str {
        match self {
            Type::Dyn | Type::Param(_) => "dyn",
            Type::Null => "null_type",
            Type::Bool => "bool",
            Type::Int => "int",
            Type::Uint => "uint",
            Type::Double => "double",
            Type::String => "string",
            Type::Bytes => "bytes",
            Type::Timestamp => "google.protobuf.Timestamp",
            Type::Duration => "google.protobuf.Duration",
            Type::List(_) => "list",
            Type::Map(_) => "map",
            Type::Optional(_) => "optional_type",
            Type::Kind(_) => "type",
            Type::Object(object) => &object.name,
            Type::Opaque(name) => name,
        }
    }
}

/// The type as spelled in compile errors.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Null => f.write_str("null"),
            Type::Timestamp => f.write_str("timestamp"),
            Type::Duration => f.write_str("duration"),
            Type::List(list) => write!(f, "list({})", list.item),
            Type::Map(map) => write!(f, "map({}, {})", map.0, map.1),
            Type::Optional(of) => write!(f, "optional_type({of})"),
            Type::Kind(of) => write!(f, "type({of})"),
            _ => f.write_str(self.base_name()),
        }
    }
}
