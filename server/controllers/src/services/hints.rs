//! Hints of endpoints: the zones and nodes whose clients should prefer them (upstream:
//! `endpointslice/trafficdist`; [`topology`] has those of `endpointslice/topologycache`).

use generated::core::v1::Service;
use generated::discovery::v1::{Endpoint, EndpointHints, EndpointSlice, ForNode, ForZone};

use super::topology::{self, ZoneShares};
use super::topology_cache::Hinted;

/// The annotations that select hints by processors; the first one that exists decides.
const TOPOLOGY_MODES: [&str; 2] = ["service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"];

/// Which hints the endpoints of a service have.
#[derive(Clone, Copy, PartialEq)]
enum Distribution {
    Anywhere,
    SameZone,
    SameNode,
    /// In proportion to the processors of zones.
    ByProcessors,
}

/// Sets the hints of slices that are written. Returns the other slices whose hints change, and the
/// result for a service with hints by processors.
pub fn assign<'s>(
    service: &Service,
    shares: Option<&ZoneShares>,
    written: impl Iterator<Item = &'s mut EndpointSlice>,
    mut others: Vec<EndpointSlice>,
) -> (Vec<EndpointSlice>, Option<Hinted>) {
    let (mut distribution, mut hinted) = (distribution(service), None);
    let mut written: Vec<&mut EndpointSlice> = written.collect();
    if distribution == Distribution::ByProcessors {
        match topology::assign(shares, &mut written, &mut others) {
            Ok((moved, counts)) => return (moved, Some(Hinted::Assigned(counts))),
            Err(why) => (distribution, hinted) = (Distribution::Anywhere, Some(Hinted::Refused(why))),
        }
    }
    for slice in written {
        update(slice, distribution);
    }
    let changed = |mut slice: EndpointSlice| update(&mut slice, distribution).then_some(slice);
    (others.into_iter().filter_map(changed).collect(), hinted)
}

fn distribution(service: &Service) -> Distribution {
    let annotations = &service.metadata.annotations;
    let mode = TOPOLOGY_MODES.iter().find_map(|name| annotations.get(*name));
    if mode.is_some_and(|mode| mode == "Auto" || mode == "auto") {
        return Distribution::ByProcessors;
    }
    match service.spec.traffic_distribution.as_deref() {
        Some("PreferClose" | "PreferSameZone") => Distribution::SameZone,
        Some("PreferSameNode") => Distribution::SameNode,
        _ => Distribution::Anywhere,
    }
}

/// Sets the hints of the endpoints of a slice; returns whether one changes. With a distribution,
/// endpoints that are not ready keep their hints.
fn update(slice: &mut EndpointSlice, distribution: Distribution) -> bool {
    let mut is_changed = false;
    for endpoint in &mut slice.endpoints {
        if distribution == Distribution::Anywhere {
            is_changed |= endpoint.hints.take().is_some();
        } else if endpoint.conditions.ready == Some(true) {
            let wanted = hints(endpoint, distribution);
            is_changed |= endpoint.hints != wanted;
            endpoint.hints = wanted;
        }
    }
    is_changed
}

fn hints(endpoint: &Endpoint, distribution: Distribution) -> Option<Box<EndpointHints>> {
    let zones = endpoint.zone.iter().map(|zone| ForZone { name: zone.clone() }).collect();
    let nodes = endpoint.node_name.iter().filter(|_| distribution == Distribution::SameNode);
    let nodes = nodes.map(|node| ForNode { name: node.clone() }).collect();
    let hints = EndpointHints { for_zones: zones, for_nodes: nodes };
    let is_empty = hints.for_zones.is_empty() && hints.for_nodes.is_empty();
    (!is_empty).then(|| Box::new(hints))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn ready_endpoints_have_the_hints_of_the_distribution() {
        let zone = json!({"forZones": [{"name": "z"}]});
        let both = json!({"forZones": [{"name": "z"}], "forNodes": [{"name": "n"}]});
        for (spec, annotations, old, wanted, is_changed) in [
            (json!({}), json!({}), Value::Null, Value::Null, false),
            (json!({}), json!({}), zone.clone(), Value::Null, true),
            (json!({"trafficDistribution": "PreferClose"}), json!({}), Value::Null, zone.clone(), true),
            (json!({"trafficDistribution": "PreferSameZone"}), json!({}), zone.clone(), zone.clone(), false),
            (json!({"trafficDistribution": "PreferSameNode"}), json!({}), zone.clone(), both, true),
            (
                json!({"trafficDistribution": "PreferClose"}),
                json!({TOPOLOGY_MODES[1]: "Auto"}),
                zone.clone(),
                Value::Null,
                true,
            ),
            (
                json!({"trafficDistribution": "PreferClose"}),
                json!({TOPOLOGY_MODES[1]: "Off"}),
                Value::Null,
                zone.clone(),
                true,
            ),
        ] {
            let service = json!({"metadata": {"annotations": annotations}, "spec": spec});
            let endpoint = |ready: bool| {
                json!({
                    "addresses": ["10.0.0.1"], "conditions": {"ready": ready}, "zone": "z", "nodeName": "n",
                    "hints": old,
                })
            };
            let slice: EndpointSlice = serde_json::from_value(json!({"endpoints": [endpoint(true)]})).unwrap();
            let service: Service = serde_json::from_value(service).unwrap();
            let mut written = [slice.clone()];
            let (changed, _) = assign(&service, None, written.iter_mut(), vec![slice]);
            assert_eq!(changed.len(), usize::from(is_changed), "{service:?}");
            let hints = serde_json::to_value(&written[0].endpoints[0]).unwrap()["hints"].clone();
            assert_eq!(hints, wanted, "{service:?}");
        }
    }
}
