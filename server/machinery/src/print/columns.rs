//! The columns of a table: those of a declaration, or those of a custom resource definition.

use std::sync::Arc;

use super::{Cell, Column, ColumnDefinition, DEFAULT_COLUMNS, NAME_COLUMN, PrintContext, document};
use crate::def::StructDef;
use crate::json_path::JsonPath;
use crate::protobuf::Mask;
use crate::reflect::Ref;

/// A column of a custom resource definition (`additionalPrinterColumns`).
#[derive(Debug)]
pub struct CustomColumn {
    /// The column definition for clients.
    pub definition: ColumnDefinition,
    /// The path of the value in the JSON form of the object.
    pub path: JsonPath,
}

/// The columns of a table.
#[derive(Clone)]
pub enum Columns {
    /// The columns of a declaration.
    Declared(&'static [Column]),
    /// The columns after that of the name. They are freed together with the last reference to their
    /// definition.
    Custom(Arc<[CustomColumn]>),
}

impl Columns {
    /// The columns of a declaration; if it has none, the default columns.
    pub fn declared(columns: &'static [Column]) -> Columns {
        Columns::Declared(if columns.is_empty() { &DEFAULT_COLUMNS } else { columns })
    }

    /// The column definitions for clients.
    pub fn definitions(&self) -> Vec<ColumnDefinition> {
        match self {
            Columns::Declared(columns) => columns.iter().map(ColumnDefinition::from).collect(),
            Columns::Custom(columns) => {
                let custom = columns.iter().map(|column| column.definition.clone());
                std::iter::once(ColumnDefinition::from(&NAME_COLUMN)).chain(custom).collect()
            }
        }
    }

    /// The fields of this type that the columns read; `None` if one of them does not declare them.
    pub fn read_by(&self, def: &'static StructDef) -> Option<Mask> {
        let Columns::Declared(columns) = self else { return None };
        let mut mask = Mask::new(def);
        columns.iter().all(|column| column.cell.add_to(&mut mask)).then_some(mask)
    }

    /// The cells of the row of an object in hub form.
    pub fn cells(&self, object: Ref<'_>, context: &PrintContext) -> Vec<Cell> {
        match self {
            Columns::Declared(columns) => columns.iter().map(|column| column.cell.cell(object, context)).collect(),
            Columns::Custom(columns) => {
                let cell =
                    |column: &CustomColumn| document::cell(object, &column.path, &column.definition.kind, context);
                std::iter::once(NAME_COLUMN.cell.cell(object, context)).chain(columns.iter().map(cell)).collect()
            }
        }
    }
}
