//! The parts of a `metav1.Table`: column definitions, objects in rows, row conditions.
//!
//! The module does not depend on HTTP: the response handler assembles the parts, row by row.

use std::borrow::Cow;

use serde::ser::{Serialize, Serializer};

use super::{Cell, CellRule, Column};

/// The first column, unless the declaration has a column with this name.
pub const NAME_COLUMN: Column = Column {
    name: "Name",
    kind: "string",
    format: "name",
    priority: 0,
    description: "Unique within its namespace and type; cannot be changed after creation.",
    cell: CellRule::Path(&["metadata", "name"], None),
};

/// Description of a column of the creation time, unless the declaration has one.
pub const AGE_DESCRIPTION: &str = "When the server accepted the object, in UTC; read-only.";

/// The columns of a kind without declared columns (`rest.NewDefaultTableConvertor`).
pub static DEFAULT_COLUMNS: [Column; 2] = [
    NAME_COLUMN,
    Column {
        name: "Created At",
        kind: "date",
        format: "",
        priority: 0,
        description: AGE_DESCRIPTION,
        cell: CellRule::Path(&["metadata", "creationTimestamp"], None),
    },
];

/// The part of an object that its row includes (`metav1.IncludeObjectPolicy`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncludeObject {
    /// No part.
    None,
    /// Its metadata, as a `PartialObjectMetadata`.
    #[default]
    Metadata,
    /// The whole object.
    Object,
}

impl IncludeObject {
    /// Parses the query parameter `includeObject`; `None` for an unknown value.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "None" => Some(IncludeObject::None),
            "" | "Metadata" => Some(IncludeObject::Metadata),
            "Object" => Some(IncludeObject::Object),
            _ => None,
        }
    }
}

/// A column definition for clients (`metav1.TableColumnDefinition`). Custom resources create theirs
/// at run time.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ColumnDefinition {
    /// The heading of the column.
    pub name: Cow<'static, str>,
    /// OpenAPI type: string, integer, number, boolean or date.
    #[serde(rename = "type")]
    pub kind: Cow<'static, str>,
    /// OpenAPI format, such as `name`; may be empty.
    pub format: Cow<'static, str>,
    /// The description of the column.
    pub description: Cow<'static, str>,
    /// 0 for a column that is always shown; greater for wide output only.
    pub priority: i32,
}

impl From<&Column> for ColumnDefinition {
    fn from(column: &Column) -> Self {
        ColumnDefinition {
            name: column.name.into(),
            kind: column.kind.into(),
            format: column.format.into(),
            description: column.description.into(),
            priority: column.priority,
        }
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::Null => serializer.serialize_none(),
            Cell::Text(text) => serializer.serialize_str(text),
            Cell::Int(n) => serializer.serialize_i64(*n),
            Cell::Float(f) => serializer.serialize_f64(*f),
            Cell::Bool(b) => serializer.serialize_bool(*b),
        }
    }
}
