//! Printed columns of `flowcontrol` that are computed: the functions of `by_hand = ..` in its definitions.

use machinery::print::{Cell, PrintContext};

use generated::flowcontrol::v1::FlowSchema;

/// Sort key of flow schemas: by matching precedence (`printFlowSchemaList`).
pub fn precedence_of_flow_schema(schema: &FlowSchema) -> i64 {
    schema.spec.matching_precedence.into()
}

pub fn flow_schema_missing_pl(schema: &FlowSchema, _: &PrintContext) -> Cell {
    let dangling = schema.status.conditions.iter().find(|c| c.r#type == "Dangling");
    dangling.map_or("?", |c| c.status.as_str()).into()
}
