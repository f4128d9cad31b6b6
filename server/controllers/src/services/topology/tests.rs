use serde_json::json;

use super::*;

fn node(zone: &str, milli_cpu: i64) -> NodeState {
    let zone = Some(zone.to_owned()).filter(|zone| !zone.is_empty());
    NodeState { zone, milli_cpu, is_ready: true, is_control_plane: false }
}

fn shares(of: &[(&str, i64)]) -> Option<ZoneShares> {
    let nodes: Vec<NodeState> = of.iter().map(|(zone, millis)| node(zone, *millis)).collect();
    zone_shares(nodes.iter())
}

/// A slice with ready endpoints in these zones.
fn slice(zones: &[&str]) -> EndpointSlice {
    let endpoint = |zone: &&str| json!({"addresses": ["10.0.0.1"], "conditions": {"ready": true}, "zone": zone});
    serde_json::from_value(json!({"endpoints": zones.iter().map(endpoint).collect::<Vec<_>>()})).unwrap()
}

/// The hints of a slice; empty for an endpoint without one.
fn hints(slice: &EndpointSlice) -> Vec<String> {
    let hint = |hints: &EndpointHints| hints.for_zones[0].name.clone();
    slice.endpoints.iter().map(|endpoint| endpoint.hints.as_deref().map(hint).unwrap_or_default()).collect()
}

/// The hints of one new slice.
fn assigned(of: &[(&str, i64)], zones: &[&str]) -> Result<Vec<String>, Refusal> {
    let mut slice = slice(zones);
    assign(shares(of).as_ref(), &mut [&mut slice], &mut Vec::new())?;
    Ok(hints(&slice))
}

#[test]
fn shares_need_ready_workers_of_two_zones_with_processors() {
    let expect = ZoneShares::from([("a".to_owned(), 0.25), ("b".to_owned(), 0.75)]);
    assert_eq!(shares(&[("a", 1000), ("b", 2000), ("b", 1000)]), Some(expect.clone()));
    for lacking in [&[("a", 1000)][..], &[("a", 1000), ("", 1000)], &[("a", 1000), ("b", 0)], &[]] {
        assert_eq!(shares(lacking), None, "{lacking:?}");
    }
    let others = [
        NodeState { is_ready: false, ..node("", 0) },
        NodeState { is_control_plane: true, ..node("c", 9000) },
        node("a", 1000),
        node("b", 3000),
    ];
    assert_eq!(zone_shares(others.iter()), Some(expect));
}

#[test]
fn endpoints_serve_their_zone_or_one_that_lacks_endpoints() {
    let even = [("a", 1000), ("b", 1000)];
    assert_eq!(assigned(&even, &["a", "b", "a", "b"]).unwrap(), ["a", "b", "a", "b"]);
    assert_eq!(assigned(&even, &["a", "a", "a", "b"]).unwrap(), ["b", "a", "a", "b"]);
    let half_too_many = ["a", "a", "a", "a", "b", "b", "b"];
    assert_eq!(assigned(&even, &half_too_many).unwrap(), half_too_many);
    let uneven = [("a", 1000), ("b", 3000)];
    assert_eq!(assigned(&uneven, &["a", "a", "a", "b"]).unwrap(), ["b", "b", "a", "b"]);
}

#[test]
fn refusals_say_why() {
    let refused = |of: &[(&str, i64)], zones: &[&str]| assigned(of, zones).unwrap_err().to_string();
    let even = [("a", 1000), ("b", 1000)];
    assert_eq!(refused(&even, &["a"]), "Insufficient number of endpoints (1 endpoints, 2 zones)");
    assert_eq!(refused(&even, &["a", ""]), "One or more endpoints do not have a zone specified");
    let unknown = "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes";
    assert_eq!(refused(&[("a", 1000)], &["a", "b"]), unknown);
    let why = "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold";
    assert_eq!(refused(&even, &["a", "a", "b"]), format!("{why} (3 endpoints, 2 zones)"));
}

#[test]
fn other_slices_change_only_if_their_hints_do_not_suit() {
    let even = shares(&[("a", 1000), ("b", 1000)]);
    let hinted = |zones: &[&str]| {
        let mut slice = slice(zones);
        slice.endpoints.iter_mut().for_each(|endpoint| set_hint(endpoint, zone(endpoint).to_owned()));
        slice
    };
    let mut others = vec![hinted(&["a", "b"]), slice(&["a", "b"]), hinted(&["a", "gone"])];
    let (moved, counts) = assign(even.as_ref(), &mut [], &mut others).unwrap();
    assert_eq!(others.iter().map(hints).collect::<Vec<_>>(), [["a", "b"]]);
    assert_eq!(moved.iter().map(hints).collect::<Vec<_>>(), [["a", "b"], ["a", "gone"]]);
    assert_eq!(counts.values().sum::<usize>(), 6);
}
