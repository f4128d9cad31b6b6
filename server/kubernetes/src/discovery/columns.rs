//! Printed columns of `discovery` that are computed: the functions of `by_hand = ..` in its definitions.

use machinery::print::{Cell, PrintContext, join_at_most, or};

use generated::discovery::v1::{EndpointPort, EndpointSlice};

pub fn endpoint_slice_endpoints(slice: &EndpointSlice, _: &PrintContext) -> Cell {
    at_most_three(slice.endpoints.iter().flat_map(|e| &e.addresses).cloned().collect())
}

pub fn endpoint_slice_ports(slice: &EndpointSlice, _: &PrintContext) -> Cell {
    at_most_three(slice.ports.iter().map(port_text).collect())
}

fn port_text(port: &EndpointPort) -> String {
    match (port.port, &port.name) {
        (Some(number), _) => number.to_string(),
        (None, Some(name)) => name.clone(),
        (None, None) => "*".into(),
    }
}

fn at_most_three(texts: Vec<String>) -> Cell {
    or(join_at_most(&texts, 3, texts.len()), "<unset>").into()
}
