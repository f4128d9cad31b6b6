//! The columns of a resource's table: those of its declaration, or those that a custom resource definition declares at run time.

use std::sync::Arc;

use super::{Cell, Column, ColumnDefinition, DEFAULT_COLUMNS, NAME_COLUMN, PrintContext, document};
use crate::def::StructDef;
use crate::json_path::JsonPath;
use crate::protobuf::Mask;
use crate::reflect::Ref;

/// A column that a custom resource definition declares (`additionalPrinterColumns`).
#[derive(Debug)]
pub struct CustomColumn {
    pub definition: ColumnDefinition,
    pub path: JsonPath,
}

/// The columns of a table.
#[derive(Clone)]
pub enum Columns {
    Declared(&'static [Column]),
    /// Columns behind that of the name. They are freed with the last user of their definition.
    Custom(Arc<[CustomColumn]>),
}

impl Columns {
    /// The columns of a declaration, or the default ones when it declares none.
    pub fn declared(columns: &'static [Column]) -> Columns {
        Columns::Declared(if columns.is_empty() { &DEFAULT_COLUMNS } else { columns })
    }

    /// The columns as clients see them.
    pub fn definitions(&self) -> Vec<ColumnDefinition> {
        match self {
            Columns::Declared(columns) => columns.iter().map(ColumnDefinition::from).collect(),
            Columns::Custom(columns) => {
                let custom = columns.iter().map(|column| column.definition.clone());
                std::iter::once(ColumnDefinition::from(&NAME_COLUMN)).chain(custom).collect()
            }
        }
    }

    /// What the columns read of an object of this type; nothing when one of them does not say.
    pub fn read_by(&self, def: &'static StructDef) -> Option<Mask> {
        let Columns::Declared(columns) = self else { return None };
        let mut mask = Mask::new(def);
        columns.iter().all(|column| column.cell.add_to(&mut mask)).then_some(mask)
    }

    /// The cells of an object's row. The object is in hub form.
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
