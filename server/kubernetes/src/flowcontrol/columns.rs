//! Printed columns of `flowcontrol` that take more than a path: the functions its definitions name with `by_hand`.

use machinery::print::{Cell, PrintContext};

use generated::flowcontrol::v1::FlowSchema;

/// Those that are tried first stand first (`printFlowSchemaList`).
pub fn precedence_of_flow_schema(schema: &FlowSchema) -> i64 {
    schema.spec.matching_precedence.into()
}

pub fn flow_schema_missing_pl(schema: &FlowSchema, _: &PrintContext) -> Cell {
    let dangling = schema.status.conditions.iter().find(|c| c.r#type == "Dangling");
    dangling.map_or("?", |c| c.status.as_str()).into()
}
