//! Strategy of endpoint slices: fields of other versions, changes that increment the generation, and
//! warnings.

use std::collections::BTreeSet;

use machinery::field_path::Path;
use machinery::format::ip::warnings_for_ip;
use machinery::format::is_dns1123_subdomain;
use machinery::hooks::WriteContext;
use machinery::json_name;
use machinery::reflect::Ref;

use super::HOSTNAME;
use generated::discovery::v1::{Endpoint, EndpointSlice, address_type};

const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
/// Controllers that normalize addresses themselves.
const NORMALIZING_CONTROLLERS: [&str; 2] =
    ["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"];

/// Drops the topology, which belongs to v1beta1 and is no longer written (`dropTopologyOnV1`).
pub fn create_endpoint_slice(_: &WriteContext, slice: &mut EndpointSlice, _: Option<&EndpointSlice>) {
    for endpoint in &mut slice.endpoints {
        endpoint.deprecated_topology.clear();
    }
}

/// Mirrors `endpointSliceStrategy.PrepareForUpdate`: changes of labels increment the generation, and so
/// do changes of topology that is then dropped.
pub fn update_endpoint_slice(_: &WriteContext, new: &mut EndpointSlice, old: &EndpointSlice) {
    let is_same = has_same_endpoints(old, new);
    if !is_same || new.metadata.labels != old.metadata.labels {
        new.metadata.generation = old.metadata.generation + 1;
    }
    if is_same {
        return;
    }
    let hosts = |slice: &EndpointSlice| -> BTreeSet<String> {
        slice.endpoints.iter().filter_map(|endpoint| endpoint.deprecated_topology.get(HOSTNAME).cloned()).collect()
    };
    let known = hosts(old);
    for endpoint in &mut new.endpoints {
        let host = std::mem::take(&mut endpoint.deprecated_topology).remove(HOSTNAME);
        if endpoint.node_name.is_none() {
            endpoint.node_name = host.filter(|host| known.contains(host) && is_dns1123_subdomain(host).is_empty());
        }
    }
}

/// Mirrors `WarningsOnCreate` and `WarningsOnUpdate`.
pub fn warn_endpoint_slice(_: &WriteContext, new: &EndpointSlice, old: Option<&EndpointSlice>) -> Vec<String> {
    let mut out = Vec::new();
    if old.is_none() && new.address_type == address_type::FQDN {
        out.push("spec.addressType: FQDN endpoints are deprecated".to_owned());
    }
    if new.metadata.labels.get(MANAGED_BY).is_some_and(|manager| NORMALIZING_CONTROLLERS.contains(&manager.as_str())) {
        return out;
    }
    let path = Path::new(json_name!(EndpointSlice.endpoints));
    for (index, endpoint) in new.endpoints.iter().enumerate() {
        let path = path.index(index);
        let path = path.child(json_name!(Endpoint.addresses));
        let addresses = endpoint.addresses.iter().enumerate();
        out.extend(addresses.filter_map(|(index, address)| warnings_for_ip(&path.index(index), address)));
    }
    out
}

fn has_same_endpoints(old: &EndpointSlice, new: &EndpointSlice) -> bool {
    let same = |(old, new): (&Endpoint, &Endpoint)| Ref::of(old) == Ref::of(new);
    old.endpoints.len() == new.endpoints.len() && old.endpoints.iter().zip(&new.endpoints).all(same)
}
