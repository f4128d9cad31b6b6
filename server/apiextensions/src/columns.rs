//! The columns of a custom resource's tables.

use std::sync::Arc;

use apimachinery::apiextensions::v1::{CustomResourceColumnDefinition, CustomResourceDefinitionVersion};
use machinery::json_path::JsonPath;
use machinery::print::{AGE_DESCRIPTION, ColumnDefinition, CustomColumn};

/// Returns the columns of a version; the age if it declares none. As upstream, columns from the
/// first malformed one on are ignored.
pub fn of(version: &CustomResourceDefinitionVersion) -> Arc<[CustomColumn]> {
    let declared = &version.additional_printer_columns;
    if declared.is_empty() {
        return age().into_iter().collect();
    }
    declared.iter().map_while(custom).collect()
}

fn age() -> Option<CustomColumn> {
    let definition = ColumnDefinition {
        name: "Age".into(),
        kind: "date".into(),
        format: "".into(),
        description: AGE_DESCRIPTION.into(),
        priority: 0,
    };
    Some(CustomColumn { definition, path: JsonPath::parse(".metadata.creationTimestamp")? })
}

fn custom(column: &CustomResourceColumnDefinition) -> Option<CustomColumn> {
    let definition = ColumnDefinition {
        name: column.name.clone().into(),
        kind: column.r#type.clone().into(),
        format: column.format.clone().into(),
        description: column.description.clone().into(),
        priority: column.priority,
    };
    Some(CustomColumn { definition, path: JsonPath::parse(&column.json_path)? })
}
