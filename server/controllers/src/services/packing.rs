//! Distributes the endpoints of a service over its endpoint slices, with as few writes as possible
//! (upstream: `endpointslice.Reconciler`).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use generated::core::v1::Service;
use generated::discovery::v1::EndpointSlice;

use super::hints;
use super::slice_set::{
    EndpointSet, PortGroup, PortGroups, PortsKey, are_equal, endpoint_key, is_owned, labels, new_slice, ports_key,
    unreserved,
};
use super::topology::ZoneShares;
use super::topology_cache::Hinted;

/// Maximum number of endpoints in a slice (upstream's `--max-endpoints-per-slice`).
pub const MAX_ENDPOINTS: usize = 100;

/// The slices to write and to delete.
#[derive(Debug, Default)]
pub struct SliceChanges {
    /// New slices, with a generated name.
    pub create: Vec<EndpointSlice>,
    /// Existing slices with new contents.
    pub update: Vec<EndpointSlice>,
    /// Existing slices without use.
    pub delete: Vec<EndpointSlice>,
    /// The hints by processors, if the service requests them.
    pub hinted: Option<Hinted>,
}

/// The slices of one family or of one group, sorted by what happens with them.
#[derive(Default)]
struct Sorted {
    changes: SliceChanges,
    unchanged: Vec<EndpointSlice>,
}

/// The changes of the slices of a service in one family (`reconcileByAddressType`).
pub fn pack(
    service: &Service,
    family: &str,
    existing: Vec<EndpointSlice>,
    groups: PortGroups,
    shares: Option<&ZoneShares>,
) -> SliceChanges {
    let number = existing.len();
    let mut by_ports: BTreeMap<PortsKey, Vec<EndpointSlice>> = BTreeMap::new();
    let mut all = Sorted::default();
    for slice in existing {
        match is_owned(&slice, service) {
            true => by_ports.entry(ports_key(&slice.ports)).or_default().push(slice),
            false => all.changes.delete.push(slice),
        }
    }
    for (ports, group) in groups {
        let Sorted { changes, unchanged } =
            pack_group(service, family, by_ports.remove(&ports).unwrap_or_default(), group);
        all.changes.create.extend(changes.create);
        all.changes.update.extend(changes.update);
        all.changes.delete.extend(changes.delete);
        all.unchanged.extend(unchanged);
    }
    all.changes.delete.extend(by_ports.into_values().flatten());
    if number == all.changes.delete.len() && all.changes.create.is_empty() {
        keep_placeholder(service, family, &mut all.changes);
    }
    let Sorted { mut changes, unchanged } = all;
    let written = changes.create.iter_mut().chain(&mut changes.update);
    let (changed, hinted) = hints::assign(service, shares, written, unchanged);
    changes.update.extend(changed);
    changes.hinted = hinted;
    recycle(service, &mut changes);
    changes
}

/// Keeps one slice without endpoints, so that clients see that the service was looked at.
fn keep_placeholder(service: &Service, family: &str, changes: &mut SliceChanges) {
    let placeholder = new_slice(service, family, &[]);
    let is_kept = |slice: &EndpointSlice| {
        slice.metadata.labels == placeholder.metadata.labels && slice.endpoints.is_empty() && slice.ports.is_empty()
    };
    match changes.delete.as_slice() {
        [slice] if is_kept(slice) => changes.delete.clear(),
        _ => changes.create.push(placeholder),
    }
}

/// The changes of the slices with the same ports (`reconcileByPortMapping`): endpoints stay in their
/// slice; new ones go to slices that are written anyway, then to one that has room for all, then to
/// new ones.
fn pack_group(service: &Service, family: &str, existing: Vec<EndpointSlice>, group: PortGroup) -> Sorted {
    let mut sorted = Sorted::default();
    let PortGroup { ports, endpoints: mut left } = group;
    for slice in existing {
        sort_slice(service, slice, &mut left, &mut sorted);
    }
    let Sorted { changes, unchanged } = &mut sorted;
    changes.update.sort_by_key(|slice| Reverse(slice.endpoints.len()));
    changes.update.iter_mut().for_each(|slice| fill(slice, &mut left));
    while !left.is_empty() {
        match with_room(unchanged, left.len()) {
            Some(at) => {
                let mut slice = unchanged.remove(at);
                fill(&mut slice, &mut left);
                changes.update.push(slice);
            }
            None => {
                let mut slice = new_slice(service, family, &ports);
                fill(&mut slice, &mut left);
                changes.create.push(slice);
            }
        }
    }
    sorted
}

/// Removes the endpoints of a slice that are not wanted, takes the others from `left`, and decides what
/// happens with the slice.
fn sort_slice(service: &Service, mut slice: EndpointSlice, left: &mut EndpointSet, sorted: &mut Sorted) {
    let (mut kept, mut is_changed) = (Vec::new(), false);
    for endpoint in &slice.endpoints {
        if let Some(wanted) = left.remove(&endpoint_key(endpoint)) {
            is_changed |= !are_equal(&wanted, endpoint);
            kept.push(wanted);
        }
    }
    let has_labels = unreserved(&slice.metadata.labels) == unreserved(&service.metadata.labels);
    if is_changed || kept.len() != slice.endpoints.len() {
        if kept.is_empty() {
            return sorted.changes.delete.push(slice);
        }
        slice.endpoints = kept;
    } else if has_labels {
        return sorted.unchanged.push(slice);
    }
    slice.metadata.labels = labels(service);
    sorted.changes.update.push(slice);
}

fn fill(slice: &mut EndpointSlice, left: &mut EndpointSet) {
    while slice.endpoints.len() < MAX_ENDPOINTS
        && let Some((_, endpoint)) = left.pop_first()
    {
        slice.endpoints.push(endpoint);
    }
}

/// The fullest slice that has room for a number of endpoints (`getSliceToFill`).
fn with_room(slices: &[EndpointSlice], number: usize) -> Option<usize> {
    if number >= MAX_ENDPOINTS {
        return None;
    }
    let room = |slice: &EndpointSlice| MAX_ENDPOINTS.checked_sub(slice.endpoints.len() + number);
    let fitting = slices.iter().enumerate().filter_map(|(at, slice)| Some((room(slice)?, at)));
    fitting.min().map(|(_, at)| at)
}

/// Updates slices that would be deleted in place of creating others (`finalize`).
fn recycle(service: &Service, changes: &mut SliceChanges) {
    let mut kept = Vec::new();
    for old in std::mem::take(&mut changes.delete) {
        let is_usable = |new: &&EndpointSlice| new.address_type == old.address_type && is_owned(&old, service);
        match changes.create.last().filter(is_usable).is_some().then(|| changes.create.pop()).flatten() {
            Some(mut new) => {
                new.metadata.name = old.metadata.name;
                changes.update.push(new);
            }
            None => kept.push(old),
        }
    }
    changes.delete = kept;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::super::backend::Backend;
    use super::super::slice_set::groups;
    use super::*;

    fn typed<T: serde::de::DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).unwrap()
    }

    /// A service with these fields of its spec, and the uid `u`.
    fn service(spec: &Value) -> Service {
        let mut service = json!({"metadata": {"name": "s", "namespace": "n", "uid": "u", "labels": {"a": "b"}}});
        let port = json!({"port": 80, "targetPort": 80, "protocol": "TCP"});
        service["spec"] = json!({"clusterIP": "10.0.0.1", "ipFamilies": ["IPv4"], "ports": [port]});
        spec.as_object().unwrap().iter().for_each(|(key, value)| service["spec"][key] = value.clone());
        typed(service)
    }

    /// Ready pods with numbers on the node `node`.
    fn pods(numbers: impl IntoIterator<Item = usize>) -> Vec<(String, Arc<Backend>)> {
        let pod = |at: usize| {
            let pod = json!({
                "metadata": {"uid": format!("u{at}")},
                "spec": {"nodeName": "node", "hostname": "h", "subdomain": "s"},
                "status": {
                    "podIPs": [
                        {"ip": format!("10.1.{}.{}", 100 + at / 100, 100 + at % 100)},
                        {"ip": format!("fd00::{at:x}")},
                    ],
                    "conditions": [{"type": "Ready", "status": "True"}],
                },
            });
            (format!("p{at:04}"), Arc::new(Backend::from(typed::<generated::core::v1::Pod>(pod))))
        };
        numbers.into_iter().map(pod).collect()
    }

    fn zone(node: &str) -> Option<Option<String>> {
        (node == "node").then(|| Some("z".to_owned()))
    }

    fn changes(service: &Service, existing: Vec<EndpointSlice>, pods: &[(String, Arc<Backend>)]) -> SliceChanges {
        pack(service, "IPv4", existing, groups(service, pods, "IPv4", zone).0, None)
    }

    /// Applies changes as the store does.
    fn applied(existing: &[EndpointSlice], changes: SliceChanges) -> Vec<EndpointSlice> {
        let mut all: BTreeMap<String, EndpointSlice> =
            existing.iter().map(|slice| (slice.metadata.name.clone(), slice.clone())).collect();
        for mut slice in changes.create {
            slice.metadata.name = format!("{}{}", slice.metadata.generate_name, all.len());
            all.insert(slice.metadata.name.clone(), slice);
        }
        for slice in changes.update {
            all.insert(slice.metadata.name.clone(), slice);
        }
        changes.delete.iter().for_each(|slice| drop(all.remove(&slice.metadata.name)));
        all.into_values().collect()
    }

    fn sizes(slices: &[EndpointSlice]) -> Vec<usize> {
        let mut sizes: Vec<usize> = slices.iter().map(|slice| slice.endpoints.len()).collect();
        sizes.sort_unstable();
        sizes
    }

    fn counts(changes: &SliceChanges) -> (usize, usize, usize) {
        (changes.create.len(), changes.update.len(), changes.delete.len())
    }

    #[test]
    fn slices_are_filled_and_changed_as_little_as_possible() {
        let service = service(&json!({}));
        let mut slices: Vec<EndpointSlice> = Vec::new();
        // The pods, the numbers of created, updated and deleted slices, and the sizes afterwards.
        let all = |range: std::ops::Range<usize>| range.collect::<Vec<usize>>();
        type Step = (Vec<usize>, (usize, usize, usize), Vec<usize>);
        let steps: [Step; 8] = [
            (all(0..0), (1, 0, 0), vec![0]),
            // The placeholder has other ports and becomes one of the slices.
            (all(0..250), (2, 1, 0), vec![50, 100, 100]),
            (all(0..250), (0, 0, 0), vec![50, 100, 100]),
            // The new one goes to the slice with room.
            (all(0..251), (0, 1, 0), vec![51, 100, 100]),
            // A slice that is written anyway takes new ones.
            ([all(1..251), all(300..310)].concat(), (0, 2, 0), vec![60, 100, 100]),
            // Slices are not merged.
            ([all(1..50), all(300..310)].concat(), (0, 2, 1), vec![9, 50]),
            // More than fit into one slice get new ones.
            ([all(1..50), all(300..310), all(400..500)].concat(), (1, 0, 0), vec![9, 50, 100]),
            (all(0..0), (0, 1, 2), vec![0]),
        ];
        for (numbers, wanted, after) in steps {
            let changes = changes(&service, slices.clone(), &pods(numbers));
            assert_eq!(counts(&changes), wanted);
            slices = applied(&slices, changes);
            assert_eq!(sizes(&slices), after);
        }
    }

    #[test]
    fn slice_has_the_metadata_and_endpoints_of_upstream() {
        let created = changes(&service(&json!({})), Vec::new(), &pods([1])).create.remove(0);
        let mut found = serde_json::to_value(&created).unwrap();
        let metadata = found["metadata"].take();
        assert_eq!(metadata["generateName"], "s-");
        assert_eq!(
            metadata["labels"],
            json!({
                "a": "b", "kubernetes.io/service-name": "s",
                "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
            })
        );
        assert_eq!(
            metadata["ownerReferences"],
            json!([{
                "apiVersion": "v1", "kind": "Service", "name": "s", "uid": "u",
                "controller": true, "blockOwnerDeletion": true,
            }])
        );
        assert_eq!(found["addressType"], "IPv4");
        assert_eq!(found["ports"], json!([{"name": "", "port": 80, "protocol": "TCP"}]));
        assert_eq!(
            found["endpoints"],
            json!([{
                "addresses": ["10.1.100.101"], "hostname": "h", "nodeName": "node", "zone": "z",
                "conditions": {"ready": true, "serving": true, "terminating": false},
                "targetRef": {"kind": "Pod", "namespace": "n", "name": "p0001", "uid": "u1"},
            }])
        );
    }

    #[test]
    fn slices_of_an_older_service_with_the_name_are_deleted_not_reused() {
        let (old, pods) = (service(&json!({})), pods([1]));
        let slices = applied(&[], changes(&old, Vec::new(), &pods));
        let mut new = old.clone();
        new.metadata.uid = "v".into();
        assert_eq!(counts(&changes(&new, slices.clone(), &pods)), (1, 0, 1));
        // A change of labels alone is written; one of reserved labels is not.
        let mut labeled = old.clone();
        labeled.metadata.labels.insert("c".into(), "d".into());
        assert_eq!(counts(&changes(&labeled, slices.clone(), &pods)), (0, 1, 0));
        let mut reserved = old.clone();
        reserved.metadata.labels.insert("kubernetes.io/service-name".into(), "other".into());
        assert_eq!(counts(&changes(&reserved, slices, &pods)), (0, 0, 0));
    }

    #[test]
    fn pods_with_other_ports_are_in_other_slices() {
        let named = service(&json!({"ports": [{"name": "web", "port": 80, "targetPort": "web", "protocol": "TCP"}]}));
        let pod = |number: i32| {
            let pod = json!({
                "spec": {"nodeName": "node", "containers": [{
                    "name": "c", "ports": [{"name": "web", "containerPort": number, "protocol": "TCP"}],
                }]},
                "status": {"podIP": format!("10.2.0.{number}")},
            });
            (format!("p{number}"), Arc::new(Backend::from(typed::<generated::core::v1::Pod>(pod))))
        };
        let (one, two) = (pod(1), pod(2));
        let slices = applied(&[], changes(&named, Vec::new(), &[one.clone(), two.clone()]));
        assert_eq!(sizes(&slices), [1, 1]);
        // A slice whose ports are gone becomes one with the new ports.
        let third = pod(3);
        assert_eq!(counts(&changes(&named, slices, &[two, third])), (0, 1, 0));
        // A pod without the port is in a slice without ports.
        let mut other = named.clone();
        other.spec.ports[0].target_port = machinery::scalar::IntOrString::String("made-up".into());
        assert_eq!(changes(&other, Vec::new(), &[one]).create[0].ports, []);
    }

    #[test]
    fn pods_of_unknown_nodes_wait_unless_unready_ones_are_published() {
        let pods = pods([1]);
        for (publish, found) in [(false, 0), (true, 1)] {
            let service = service(&json!({"publishNotReadyAddresses": publish}));
            let (groups, missing) = groups(&service, &pods, "IPv4", |_| None);
            assert_eq!(groups.values().map(|group| group.endpoints.len()).sum::<usize>(), found);
            assert_eq!(missing.len(), 1 - found);
            if let Some(why) = missing.first() {
                assert_eq!(why, "skipping Pod p0001 for Service n/s: Node node Not Found");
            }
        }
    }
}
