//! Nodes and endpoint slices.

use generated::core::v1::Node;
use generated::discovery::v1::EndpointSlice;
use machinery::reflect::{Owned, Ref};
use registry::Context;

/// A kubelet registers its node together with its status.
pub fn create(_: &Context, object: &mut Owned, said: Ref<'_>) {
    if let (Some(node), Some(said)) = (object.downcast_mut::<Node>(), said.downcast::<Node>()) {
        node.status = said.status.clone();
    }
}

/// Topology belongs to v1beta1, which is no longer written (`dropTopologyOnV1`).
pub fn create_endpoint_slice(_: &Context, object: &mut Owned, _: Ref<'_>) {
    let Some(slice) = object.downcast_mut::<EndpointSlice>() else { return };
    for endpoint in &mut slice.endpoints {
        endpoint.deprecated_topology.clear();
    }
}
