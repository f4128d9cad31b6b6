//! Endpoint slices.

use machinery::hooks::Context;

use crate::discovery::v1::EndpointSlice;

/// Topology belongs to v1beta1, which is no longer written (`dropTopologyOnV1`).
pub fn create_endpoint_slice(_: &Context, slice: &mut EndpointSlice, _: &EndpointSlice) {
    for endpoint in &mut slice.endpoints {
        endpoint.deprecated_topology.clear();
    }
}
