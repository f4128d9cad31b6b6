//! `metav1.Table`: a list, an object or a watch event as rows of cells.
//!
//! Knows nothing of HTTP: the caller says which version of `meta.k8s.io` was asked for, what rows carry besides cells and whether the
//! columns are to be described, and writes the result in any serde format.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde_json::value::RawValue;

use super::{Cell, CellRule, Column, PrintContext};
use crate::json;
use crate::reflect::{Ref, Value};

/// The columns of a kind that declares none (`rest.NewDefaultTableConvertor`).
pub static DEFAULT_COLUMNS: [Column; 2] = [
    Column {
        name: "Name",
        kind: "string",
        format: "name",
        priority: 0,
        description: "",
        cell: CellRule::Path(&["metadata", "name"], None),
    },
    Column {
        name: "Created At",
        kind: "date",
        format: "",
        priority: 0,
        description: "",
        cell: CellRule::Path(&["metadata", "creationTimestamp"], None),
    },
];

/// What rows carry of their object (`metav1.IncludeObjectPolicy`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncludeObject {
    None,
    #[default]
    Metadata,
    Object,
}

impl IncludeObject {
    /// Reads the query parameter `includeObject`; `None` for a value that is not one of the policies.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "None" => Some(IncludeObject::None),
            "" | "Metadata" => Some(IncludeObject::Metadata),
            "Object" => Some(IncludeObject::Object),
            _ => None,
        }
    }
}

/// A column as clients see it (`metav1.TableColumnDefinition`). Custom resources make theirs at run time.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ColumnDefinition {
    pub name: Cow<'static, str>,
    #[serde(rename = "type")]
    pub kind: Cow<'static, str>,
    pub format: Cow<'static, str>,
    pub description: Cow<'static, str>,
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

/// What is to be said of a row as a whole (`metav1.TableRowCondition`).
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RowCondition {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub status: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub reason: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub message: &'static str,
}

/// A row (`metav1.TableRow`).
pub struct Row<'a> {
    pub cells: Vec<Cell>,
    pub conditions: Vec<RowCondition>,
    pub object: RowObject<'a>,
}

/// What a row carries besides its cells.
pub enum RowObject<'a> {
    None,
    /// `PartialObjectMetadata` in this version of `meta.k8s.io`, of a declared object's metadata.
    Metadata(Cow<'a, str>, Ref<'a>),
    /// The object, written out with its kind and version.
    Object(Box<RawValue>),
    /// Whatever is to stand there; custom resources have no declared type.
    Json(serde_json::Value),
}

/// The metadata of a table (`metav1.ListMeta`).
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListMeta {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    #[serde(rename = "continue", skip_serializing_if = "String::is_empty")]
    pub continue_token: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_item_count: Option<i64>,
}

/// A table (`metav1.Table`).
pub struct Table<'a> {
    /// The version of `meta.k8s.io`: `v1` or `v1beta1`.
    pub version: Cow<'a, str>,
    pub metadata: ListMeta,
    /// `None` in all but the first event of a watch.
    pub columns: Option<Vec<ColumnDefinition>>,
    /// `None` when an empty list of a kind without columns is shown, which upstream writes as null.
    pub rows: Option<Vec<Row<'a>>>,
}

/// How a table is asked for.
#[derive(Clone, Copy)]
pub struct TableOptions<'a> {
    /// The version of `meta.k8s.io`: `v1` or `v1beta1`.
    pub version: &'a str,
    pub include_object: IncludeObject,
    /// Whether the columns are described.
    pub headers: bool,
    /// `apiVersion` and kind that rows with whole objects say.
    pub shown_as: (&'a str, &'a str),
    /// What is to be said of rows besides their cells.
    pub row_conditions: fn(Ref<'_>) -> Vec<RowCondition>,
}

/// An object that becomes a row.
#[derive(Clone, Copy)]
pub struct RowSource<'a> {
    /// In hub form: cells are made of it.
    pub hub: Ref<'a>,
    /// In the version that was asked for: rows with whole objects show it.
    pub shown: Ref<'a>,
}

/// The table of these objects; `columns` are the resource's own, none for the default ones.
pub fn table<'a>(
    columns: &[Column],
    objects: impl IntoIterator<Item = RowSource<'a>>,
    metadata: ListMeta,
    context: &PrintContext,
    options: &TableOptions<'_>,
) -> Table<'a> {
    let is_default = columns.is_empty();
    let columns = if is_default { &DEFAULT_COLUMNS } else { columns };
    let row = |source: RowSource<'a>| Row {
        cells: columns.iter().map(|column| column.cell.cell(source.hub, context)).collect(),
        conditions: (options.row_conditions)(source.hub),
        object: row_object(source, options),
    };
    let rows: Vec<_> = objects.into_iter().map(row).collect();
    Table {
        version: options.version.to_string().into(),
        metadata,
        columns: options.headers.then(|| columns.iter().map(ColumnDefinition::from).collect()),
        rows: if is_default && rows.is_empty() { None } else { Some(rows) },
    }
}

fn row_object<'a>(source: RowSource<'a>, options: &TableOptions<'_>) -> RowObject<'a> {
    match options.include_object {
        IncludeObject::None => RowObject::None,
        IncludeObject::Metadata => match source.hub.by_name("metadata") {
            Some(Value::Struct(metadata)) => RowObject::Metadata(options.version.to_string().into(), metadata),
            _ => RowObject::None,
        },
        IncludeObject::Object => {
            let mut text = Vec::new();
            json::encode_object(options.shown_as.0, options.shown_as.1, source.shown, &mut text);
            let raw = String::from_utf8(text).ok().and_then(|text| RawValue::from_string(text).ok());
            raw.map_or(RowObject::None, RowObject::Object)
        }
    }
}

impl Table<'_> {
    /// As a JSON value.
    pub fn to_value(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }
}

impl Serialize for Table<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Table", 5)?;
        out.serialize_field("kind", "Table")?;
        out.serialize_field("apiVersion", &format_args!("meta.k8s.io/{}", self.version))?;
        out.serialize_field("metadata", &self.metadata)?;
        out.serialize_field("columnDefinitions", &self.columns)?;
        out.serialize_field("rows", &self.rows)?;
        out.end()
    }
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("TableRow", 2 + usize::from(!self.conditions.is_empty()))?;
        out.serialize_field("cells", &self.cells)?;
        if !self.conditions.is_empty() {
            out.serialize_field("conditions", &self.conditions)?;
        }
        out.serialize_field("object", &self.object)?;
        out.end()
    }
}

impl Serialize for RowObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            RowObject::None => serializer.serialize_none(),
            RowObject::Metadata(version, metadata) => {
                let mut out = serializer.serialize_struct("PartialObjectMetadata", 3)?;
                out.serialize_field("kind", "PartialObjectMetadata")?;
                out.serialize_field("apiVersion", &format_args!("meta.k8s.io/{version}"))?;
                out.serialize_field("metadata", metadata)?;
                out.end()
            }
            RowObject::Object(raw) => raw.serialize(serializer),
            RowObject::Json(value) => value.serialize(serializer),
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
