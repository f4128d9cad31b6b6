//! The endpoint slices that mirror endpoints: one for each subset and family (upstream:
//! `endpointslicemirroring.reconciler`).

use std::collections::BTreeMap;

use apimachinery::meta::v1::ObjectMeta;
use generated::core::v1::{EndpointAddress, Endpoints};
use generated::discovery::v1::{Endpoint, EndpointPort, EndpointSlice};

use super::backend;
use super::informers::{MANAGED_BY, SERVICE_NAME};
use super::order;
use super::packing::SliceChanges;
use super::slice_set::{EndpointSet, PortGroup, PortsKey, are_equal, endpoint_key, name_prefix, owner, ports_key};
use super::subsets::repack;
use super::trigger_times;

/// The value of [`MANAGED_BY`] for mirrored slices.
pub const MANAGER: &str = "endpointslicemirroring-controller.k8s.io";
/// Maximum number of addresses of a subset in a slice (upstream's
/// `--mirroring-max-endpoints-per-subset`).
pub const MAX_ADDRESSES: usize = 1000;
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Groups by family and ports.
type FamilyGroups = BTreeMap<(String, PortsKey), PortGroup>;

/// What the slices of endpoints should have.
#[derive(Default)]
pub struct Desired {
    /// The endpoints by family and ports.
    pub groups: FamilyGroups,
    /// Number of addresses that are no IP addresses.
    pub invalid: usize,
    /// Number of addresses that are not mirrored, with the invalid ones.
    pub skipped: usize,
}

/// What the slices of endpoints should have.
pub fn desired(endpoints: &Endpoints) -> Desired {
    let mut desired = Desired::default();
    for subset in repack(&endpoints.subsets) {
        let ports = subset.ports.into_iter().map(|port| EndpointPort {
            name: Some(port.name),
            port: Some(port.port),
            protocol: Some(port.protocol),
            app_protocol: port.app_protocol,
        });
        let mut ports: Vec<EndpointPort> = ports.collect();
        order::sort_slice_ports(&mut ports);
        let total = subset.addresses.len() + subset.not_ready_addresses.len();
        let ready = subset.addresses.into_iter().map(|address| (address, true));
        let mut added = 0;
        for (address, is_ready) in ready.chain(subset.not_ready_addresses.into_iter().map(|address| (address, false))) {
            if added == MAX_ADDRESSES {
                break;
            }
            let Some((family, endpoint)) = endpoint(address, is_ready) else {
                desired.invalid += 1;
                continue;
            };
            added += 1;
            let new = || PortGroup { ports: ports.clone(), endpoints: EndpointSet::new() };
            let group = desired.groups.entry((family.into(), ports_key(&ports))).or_insert_with(new);
            group.endpoints.insert(endpoint_key(&endpoint), endpoint);
        }
        desired.skipped += total - added;
    }
    desired
}

/// The family and the endpoint of an address; `None` if it is no IP address (`addressToEndpoint`).
fn endpoint(address: EndpointAddress, is_ready: bool) -> Option<(&'static str, Endpoint)> {
    let ip = backend::address(&address.ip)?;
    let mut endpoint = Endpoint { addresses: vec![ip.text], ..Endpoint::default() };
    endpoint.conditions.ready = Some(is_ready);
    endpoint.target_ref = address.target_ref;
    endpoint.node_name = address.node_name;
    endpoint.hostname = Some(address.hostname).filter(|name| !name.is_empty());
    Some((if ip.is_v6 { "IPv6" } else { "IPv4" }, endpoint))
}

/// The changes of the slices of endpoints (`reconcile`).
pub fn pack(endpoints: &Endpoints, existing: Vec<EndpointSlice>, groups: FamilyGroups) -> SliceChanges {
    let mut by_key: BTreeMap<(String, PortsKey), Vec<EndpointSlice>> = BTreeMap::new();
    for slice in existing {
        by_key.entry((slice.address_type.clone(), ports_key(&slice.ports))).or_default().push(slice);
    }
    let mut changes = SliceChanges::default();
    for (key, group) in groups {
        let mut slices = by_key.remove(&key).unwrap_or_default().into_iter();
        let first = slices.next();
        changes.delete.extend(slices);
        if first.as_ref().is_some_and(|slice| is_current(endpoints, slice, &group.endpoints)) {
            continue;
        }
        let mut slice = new_slice(endpoints, &key.0, group);
        match first {
            Some(first) => {
                slice.metadata.name = first.metadata.name;
                changes.update.push(slice);
            }
            None => {
                slice.metadata.generate_name = name_prefix(&endpoints.metadata.name);
                changes.create.push(slice);
            }
        }
    }
    changes.delete.extend(by_key.into_values().flatten());
    recycle(&mut changes);
    changes
}

/// Whether a slice needs no change.
fn is_current(endpoints: &Endpoints, slice: &EndpointSlice, wanted: &EndpointSet) -> bool {
    let is_wanted =
        |endpoint: &Endpoint| wanted.get(&endpoint_key(endpoint)).is_some_and(|wanted| are_equal(wanted, endpoint));
    let is_of_other = |owner: &apimachinery::meta::v1::OwnerReference| {
        owner.kind == "Endpoints" && owner.name == endpoints.metadata.name && owner.uid != endpoints.metadata.uid
    };
    let mut labels = slice.metadata.labels.clone();
    labels.retain(|key, _| !matches!(key.as_str(), MANAGED_BY | SERVICE_NAME));
    slice.endpoints.len() == wanted.len()
        && slice.endpoints.iter().all(is_wanted)
        && labels == endpoints.metadata.labels
        && slice.metadata.annotations == annotations(endpoints)
        && !slice.metadata.owner_references.iter().any(is_of_other)
}

/// The annotations that a slice takes from its endpoints.
fn annotations(endpoints: &Endpoints) -> BTreeMap<String, String> {
    let mut annotations = endpoints.metadata.annotations.clone();
    annotations.retain(|key, _| key != trigger_times::ANNOTATION && key != LAST_APPLIED);
    annotations
}

/// A slice of endpoints without a name.
fn new_slice(endpoints: &Endpoints, family: &str, group: PortGroup) -> EndpointSlice {
    let mut labels = endpoints.metadata.labels.clone();
    labels.insert(SERVICE_NAME.into(), endpoints.metadata.name.clone());
    labels.insert(MANAGED_BY.into(), MANAGER.into());
    EndpointSlice {
        metadata: ObjectMeta {
            labels,
            annotations: annotations(endpoints),
            namespace: endpoints.metadata.namespace.clone(),
            owner_references: vec![owner("Endpoints", &endpoints.metadata)],
            ..ObjectMeta::default()
        },
        address_type: family.into(),
        endpoints: group.endpoints.into_values().take(MAX_ADDRESSES).collect(),
        ports: group.ports,
        ..EndpointSlice::default()
    }
}

/// Updates slices that would be deleted in place of creating others of their family
/// (`recycleSlices`).
fn recycle(changes: &mut SliceChanges) {
    for mut new in std::mem::take(&mut changes.create) {
        match changes.delete.iter().position(|old| old.address_type == new.address_type) {
            Some(at) => {
                new.metadata.name = changes.delete.remove(at).metadata.name;
                changes.update.push(new);
            }
            None => changes.create.push(new),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn endpoints(subsets: Value) -> Endpoints {
        let annotations = json!({"a": "b", LAST_APPLIED: "{}", trigger_times::ANNOTATION: "2026-01-01T00:00:00Z"});
        let metadata =
            json!({"name": "s", "namespace": "n", "uid": "u", "labels": {"l": "m"}, "annotations": annotations});
        serde_json::from_value(json!({"metadata": metadata, "subsets": subsets})).unwrap()
    }

    fn counts(changes: &SliceChanges) -> (usize, usize, usize) {
        (changes.create.len(), changes.update.len(), changes.delete.len())
    }

    #[test]
    fn one_slice_for_each_subset_and_family() {
        let of = endpoints(json!([{
            "addresses": [{"ip": "10.0.0.1", "hostname": "h"}, {"ip": "fd00::1"}, {"ip": "made-up"}],
            "notReadyAddresses": [{"ip": "10.0.0.2", "nodeName": "node"}],
            "ports": [{"name": "web", "port": 80, "protocol": "TCP"}],
        }]));
        let wanted = desired(&of);
        assert_eq!((wanted.invalid, wanted.skipped), (1, 1));
        let mut slices = pack(&of, Vec::new(), wanted.groups).create;
        assert_eq!(slices.iter().map(|slice| slice.address_type.as_str()).collect::<Vec<_>>(), ["IPv4", "IPv6"]);
        let found = serde_json::to_value(&slices[0]).unwrap();
        assert_eq!(
            found["endpoints"],
            json!([
                {"addresses": ["10.0.0.1"], "conditions": {"ready": true}, "hostname": "h"},
                {"addresses": ["10.0.0.2"], "conditions": {"ready": false}, "nodeName": "node"},
            ])
        );
        assert_eq!(found["metadata"]["annotations"], json!({"a": "b"}));
        assert_eq!(found["metadata"]["labels"][MANAGED_BY], MANAGER);
        assert_eq!(found["metadata"]["ownerReferences"][0]["kind"], "Endpoints");
        for (at, slice) in slices.iter_mut().enumerate() {
            slice.metadata.name = format!("s-{at}");
        }
        assert_eq!(counts(&pack(&of, slices.clone(), desired(&of).groups)), (0, 0, 0));
        // A slice with other ports takes the place of one that is not needed any more.
        let mut changed = of.clone();
        changed.subsets[0].ports[0].port = 81;
        assert_eq!(counts(&pack(&changed, slices.clone(), desired(&changed).groups)), (0, 2, 0));
        changed.subsets[0].addresses.clear();
        assert_eq!(counts(&pack(&changed, slices.clone(), desired(&changed).groups)), (0, 1, 1));
        // Endpoints that were created again own their slices.
        let mut again = of;
        again.metadata.uid = "v".into();
        assert_eq!(counts(&pack(&again, slices.clone(), desired(&again).groups)), (0, 2, 0));
        again.subsets.clear();
        assert_eq!(counts(&pack(&again, slices, desired(&again).groups)), (0, 0, 2));
    }

    #[test]
    fn addresses_above_the_limit_are_skipped() {
        let addresses: Vec<Value> =
            (0..1001).map(|at| json!({"ip": format!("10.0.{}.{}", at / 256, at % 256)})).collect();
        let of = endpoints(json!([{"addresses": addresses}]));
        let wanted = desired(&of);
        assert_eq!((wanted.invalid, wanted.skipped), (0, 1));
        assert_eq!(pack(&of, Vec::new(), wanted.groups).create[0].endpoints.len(), MAX_ADDRESSES);
    }
}
