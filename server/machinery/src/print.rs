//! Printer columns: their declarations, the rules for their cells, and the tables they form.

mod cell;
mod columns;
mod document;
mod row_condition;
mod table;
mod text;

use crate::def::{Scalar, Shape, StructDef};
use crate::protobuf::Mask;
use crate::reflect::{List, Map, Ref, Value};

pub use cell::{Cell, PrintContext};
pub use columns::{Columns, CustomColumn};
pub use row_condition::RowCondition;
pub use table::{AGE_DESCRIPTION, ColumnDefinition, DEFAULT_COLUMNS, IncludeObject, NAME_COLUMN};
pub use text::{format_labels, format_selector, human_age, human_duration, join_at_most, or};

/// A column of a table.
pub struct Column {
    /// The heading of the column.
    pub name: &'static str,
    /// OpenAPI type: string, integer, number, boolean or date.
    pub kind: &'static str,
    /// OpenAPI format, such as `name` or `int32`; may be empty.
    pub format: &'static str,
    /// 0 for a column that is always shown; greater for `kubectl get -o wide` only.
    pub priority: i32,
    /// The description of the column for clients.
    pub description: &'static str,
    /// The rule that computes the cells.
    pub cell: CellRule,
}

impl Column {
    /// A text column with priority 0.
    pub const PLAIN: Column =
        Column { name: "", kind: "string", format: "", priority: 0, description: "", cell: CellRule::Path(&[], None) };
}

/// The rule that computes a cell.
pub enum CellRule {
    /// The value at a JSON path. If it is absent or an empty string, the text, or the zero value of
    /// its type without a text.
    Path(&'static [&'static str], Option<&'static str>),
    /// The time since a timestamp, or the text if it is absent.
    Age(&'static [&'static str], Option<&'static str>),
    /// The number of items, or the text if there are none.
    Len(&'static [&'static str], Option<&'static str>),
    /// `k=v,k=v`; if empty, the text or `<none>`.
    Labels(&'static [&'static str], Option<&'static str>),
    /// The text of a label selector; if empty, the text or `<none>`.
    Selector(&'static [&'static str], Option<&'static str>),
    /// Comma-separated strings, or the text if there are none. The path may pass through lists: it
    /// then selects the field of every item.
    Join(&'static [&'static str], Option<&'static str>),
    /// A hand-written function, and the JSON paths that it reads; empty if they are not declared.
    ByHand(fn(Ref<'_>, &PrintContext) -> Cell, &'static [&'static [&'static str]]),
}

impl CellRule {
    /// Adds the fields that the cell reads to the mask. Returns false if they are unknown.
    fn add_to(&self, mask: &mut Mask) -> bool {
        match self {
            CellRule::Path(path, _)
            | CellRule::Age(path, _)
            | CellRule::Len(path, _)
            | CellRule::Labels(path, _)
            | CellRule::Selector(path, _)
            | CellRule::Join(path, _) => mask.add(path),
            CellRule::ByHand(_, reads) => !reads.is_empty() && reads.iter().all(|path| mask.add(path)),
        }
    }

    /// The cell of an object.
    pub fn cell(&self, object: Ref<'_>, context: &PrintContext) -> Cell {
        match self {
            CellRule::Path(path, or) => path_cell(object, path, *or),
            CellRule::Age(path, or) => match at_path(object, path) {
                Some(Value::Time(t)) if !t.is_zero() => Cell::Text(context.age(t)),
                Some(Value::MicroTime(t)) if !t.is_zero() => Cell::Text(context.age(t)),
                _ => Cell::from(or.unwrap_or("<unknown>")),
            },
            CellRule::Len(path, or) => match (at_path(object, path).map_or(0, len_of), or) {
                (0, Some(text)) => Cell::from(*text),
                (n, _) => Cell::from(n),
            },
            CellRule::Labels(path, or) => Cell::from(match at_path(object, path) {
                Some(Value::Map(Map::String(labels))) if !labels.is_empty() => format_labels(labels.iter()),
                _ => or.unwrap_or("<none>").into(),
            }),
            CellRule::Selector(path, or) => Cell::from(match (at_path(object, path), or) {
                (Some(Value::Struct(selector)), None) => format_selector(selector),
                (Some(Value::Struct(selector)), Some(or)) => {
                    Some(format_selector(selector)).filter(|s| s != "<none>").unwrap_or(or.to_string())
                }
                (_, or) => or.unwrap_or("<none>").into(),
            }),
            CellRule::Join(path, instead) => {
                let mut texts = Vec::new();
                collect_texts(object, path, &mut texts);
                Cell::from(or(texts.join(","), instead.unwrap_or("")))
            }
            CellRule::ByHand(f, _) => f(object, context),
        }
    }
}

/// The value at a path of JSON names. The path may pass through present structs and the keys of
/// plain maps.
pub fn at_path<'a>(object: Ref<'a>, path: &[&str]) -> Option<Value<'a>> {
    let (last, parents) = path.split_last()?;
    if let Some(document) = object.undeclared().filter(|_| object.def().json_field(path[0]).is_none()) {
        return document.at(path).and_then(document::value);
    }
    let mut here = object;
    for name in parents {
        match here.by_name(name)? {
            Value::Struct(inner) => here = inner,
            Value::Map(Map::Quantity(map)) => return map.get(*last).map(Value::Quantity),
            Value::Map(Map::String(map)) => return map.get(*last).map(|s| Value::String(s)),
            _ => return None,
        }
    }
    match here.by_name(last)? {
        Value::Null => None,
        value => Some(value),
    }
}

/// The text of a selectable field in the form that field selectors compare; empty if absent.
pub fn text_at(object: Ref<'_>, path: &[&str]) -> String {
    match at_path(object, path).map(scalar_cell) {
        Some(Cell::Text(text)) => text,
        Some(Cell::Int(n)) => n.to_string(),
        Some(Cell::Bool(b)) => b.to_string(),
        Some(Cell::Float(f)) => f.to_string(),
        Some(Cell::Null) | None => String::new(),
    }
}

fn path_cell(object: Ref<'_>, path: &[&str], or: Option<&str>) -> Cell {
    match (at_path(object, path), or) {
        (None | Some(Value::String("")), Some(text)) => Cell::from(text),
        (None, None) => zero_cell(object.def(), path),
        (Some(value), _) => scalar_cell(value),
    }
}

/// The cell of an absent value: upstream shows nil pointers and missing map entries as zero values.
fn zero_cell(def: &'static StructDef, path: &[&str]) -> Cell {
    let Some((name, below)) = path.split_first() else { return Cell::Null };
    let tables = def.tables();
    let Some(shape) = tables.find(name).map(|index| tables.json[index].shape) else { return Cell::Null };
    match (shape, below) {
        (Shape::Struct(inner) | Shape::OptStruct(inner), [_, ..]) => zero_cell(inner, below),
        (Shape::One(scalar) | Shape::Opt(scalar), []) | (Shape::Map(scalar), [_]) => zero_scalar(scalar),
        _ => Cell::Null,
    }
}

fn zero_scalar(scalar: Scalar) -> Cell {
    match scalar {
        Scalar::Bool => Cell::Bool(false),
        Scalar::I32 | Scalar::I64 => Cell::Int(0),
        Scalar::String => Cell::from(""),
        Scalar::Quantity => Cell::from("0"),
        _ => Cell::Null,
    }
}

fn scalar_cell(value: Value<'_>) -> Cell {
    match value {
        Value::Bool(v) => Cell::Bool(v),
        Value::I32(v) => Cell::Int(v.into()),
        Value::I64(v) => Cell::Int(v),
        Value::F64(v) => Cell::Float(v),
        Value::String(v) => Cell::from(v),
        Value::Quantity(v) => Cell::Text(v.to_string()),
        Value::IntOrString(v) => Cell::Text(v.to_string()),
        Value::Time(v) => Cell::Text(v.to_string()),
        Value::MicroTime(v) => Cell::Text(v.to_string()),
        _ => Cell::Null,
    }
}

/// Collects every string at the path, which may pass through lists.
fn collect_texts(object: Ref<'_>, path: &[&str], texts: &mut Vec<String>) {
    let Some((name, below)) = path.split_first() else { return };
    match object.by_name(name) {
        Some(Value::Struct(inner)) => collect_texts(inner, below, texts),
        Some(Value::StructList(items)) => items.iter().for_each(|item| collect_texts(item, below, texts)),
        Some(Value::List(List::String(items))) => texts.extend(items.iter().cloned()),
        Some(Value::String(text)) => texts.push(text.to_string()),
        _ => {}
    }
}

fn len_of(value: Value<'_>) -> usize {
    match value {
        Value::List(v) => v.len(),
        Value::Map(v) => v.len(),
        Value::StructList(v) => v.len(),
        Value::StructMap(v) => v.len(),
        Value::Bytes(v) => v.len(),
        _ => 0,
    }
}
