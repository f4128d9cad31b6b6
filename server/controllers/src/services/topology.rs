//! Hints in proportion to the processors of zones, for services with the annotation
//! `service.kubernetes.io/topology-mode: Auto` (upstream: `endpointslice/topologycache`).

use std::collections::BTreeMap;
use std::fmt;

use generated::discovery::v1::{Endpoint, EndpointHints, EndpointSlice, ForZone};

use super::node_state::NodeState;

/// The share of its load by which the endpoint of a zone may be overloaded.
const OVERLOAD_THRESHOLD: f64 = 0.2;

/// The share of each zone in the processors of all nodes.
pub type ZoneShares = BTreeMap<String, f64>;

/// How many endpoints each zone has by hints.
pub type ZoneCounts = BTreeMap<String, usize>;

/// Why the endpoints of a service have no hints. The text is upstream's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Refusal {
    /// There are no two zones with processors, or a node has no zone or no processors.
    UnknownNodes,
    /// An endpoint is in no zone.
    EndpointWithoutZone,
    /// There are fewer endpoints than zones.
    TooFewEndpoints { endpoints: usize, zones: usize },
    /// The endpoints of a zone would be overloaded.
    Overload { endpoints: usize, zones: usize },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (why, numbers) = match self {
            Self::UnknownNodes => {
                ("Insufficient Node information: allocatable CPU or zone not specified on one or more nodes", None)
            }
            Self::EndpointWithoutZone => ("One or more endpoints do not have a zone specified", None),
            Self::TooFewEndpoints { endpoints, zones } => {
                ("Insufficient number of endpoints", Some((endpoints, zones)))
            }
            Self::Overload { endpoints, zones } => (
                "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold",
                Some((endpoints, zones)),
            ),
        };
        f.write_str(why)?;
        numbers.map_or(Ok(()), |(endpoints, zones)| write!(f, " ({endpoints} endpoints, {zones} zones)"))
    }
}

/// The number of endpoints for a zone.
#[derive(Debug, PartialEq)]
struct Allocation {
    maximum: usize,
    desired: f64,
}

/// The shares of the zones of nodes; `None` without sufficient information (`SetNodes`).
///
/// Nodes of the control plane and those that are not ready do not count.
pub fn zone_shares<'n>(nodes: impl Iterator<Item = &'n NodeState>) -> Option<ZoneShares> {
    let mut processors: BTreeMap<&str, i64> = BTreeMap::new();
    for node in nodes.filter(|node| node.is_ready && !node.is_control_plane) {
        let zone = node.zone.as_deref().filter(|_| node.milli_cpu > 0)?;
        let sum = processors.entry(zone).or_default();
        *sum = sum.saturating_add(node.milli_cpu);
    }
    let total: f64 = processors.values().map(|millis| *millis as f64).sum();
    let shares = processors.iter().map(|(zone, millis)| ((*zone).to_owned(), *millis as f64 / total));
    (processors.len() > 1).then(|| shares.collect())
}

/// Whether a zone has fewer endpoints than its processors need (`serviceOverloaded`).
pub fn is_overloaded(counts: &ZoneCounts, shares: Option<&ZoneShares>) -> bool {
    let Some(shares) = shares else { return !counts.is_empty() };
    let total = counts.values().sum();
    let lacks = |(zone, share): (&String, &f64)| counts.get(zone).is_none_or(|count| *count < minimum(*share, total));
    !counts.is_empty() && shares.iter().any(lacks)
}

/// The least number of endpoints of a zone.
fn minimum(share: f64, endpoints: usize) -> usize {
    (share * endpoints as f64 * (1.0 / (1.0 + OVERLOAD_THRESHOLD))).ceil() as usize
}

/// Sets the hints of slices that are written, and moves the other slices whose hints change out of
/// `others`. Returns the moved slices, and the endpoints of each zone (`AddHints`).
///
/// # Errors
/// Returns why the endpoints have no hints. `others` is as before, but for the order.
pub fn assign(
    shares: Option<&ZoneShares>,
    written: &mut [&mut EndpointSlice],
    others: &mut Vec<EndpointSlice>,
) -> Result<(Vec<EndpointSlice>, ZoneCounts), Refusal> {
    let number = written.iter().map(|slice| &**slice).chain(&*others).flat_map(ready).count();
    let allocations = allocations(shares, number)?;
    let mut counts = ZoneCounts::new();
    let (kept, mut moved) =
        std::mem::take(others).into_iter().partition(|slice| keeps(slice, &mut counts, &allocations));
    *others = kept;
    if written.iter().map(|slice| &**slice).chain(&moved).flat_map(ready).any(|endpoint| zone(endpoint).is_empty()) {
        others.append(&mut moved);
        return Err(Refusal::EndpointWithoutZone);
    }
    let slices = written.iter_mut().map(|slice| &mut **slice).chain(&mut moved);
    let is_ready = |endpoint: &&mut Endpoint| endpoint.conditions.ready == Some(true);
    let mut endpoints: Vec<_> = slices.flat_map(|slice| &mut slice.endpoints).filter(is_ready).collect();
    for endpoint in &mut endpoints {
        let zone = zone(endpoint).to_owned();
        *counts.entry(zone.clone()).or_default() += 1;
        set_hint(endpoint, zone);
    }
    let mut transfers = Transfers::between(&allocations, &counts);
    for endpoint in endpoints {
        let from = zone(endpoint).to_owned();
        if let Some(to) = transfers.take(&from) {
            *counts.entry(from).or_default() -= 1;
            *counts.entry(to.clone()).or_default() += 1;
            set_hint(endpoint, to);
        }
    }
    Ok((moved, counts))
}

fn ready(slice: &EndpointSlice) -> impl Iterator<Item = &Endpoint> {
    slice.endpoints.iter().filter(|endpoint| endpoint.conditions.ready == Some(true))
}

fn zone(endpoint: &Endpoint) -> &str {
    endpoint.zone.as_deref().unwrap_or_default()
}

fn set_hint(endpoint: &mut Endpoint, zone: String) {
    endpoint.hints = Some(Box::new(EndpointHints { for_zones: vec![ForZone { name: zone }], for_nodes: Vec::new() }));
}

/// The numbers of endpoints of the zones, of a number of endpoints in all (`getAllocations`).
fn allocations(shares: Option<&ZoneShares>, endpoints: usize) -> Result<BTreeMap<&str, Allocation>, Refusal> {
    let shares = shares.ok_or(Refusal::UnknownNodes)?;
    let zones = shares.len();
    if zones > endpoints {
        return Err(Refusal::TooFewEndpoints { endpoints, zones });
    }
    let minima: usize = shares.values().map(|share| minimum(*share, endpoints)).sum();
    let left = endpoints.checked_sub(minima).ok_or(Refusal::Overload { endpoints, zones })?;
    let allocation = |share: f64| {
        let minimum = minimum(share, endpoints);
        Allocation { maximum: minimum + left, desired: f64::max(share * endpoints as f64, minimum as f64) }
    };
    Ok(shares.iter().map(|(zone, share)| (zone.as_str(), allocation(*share))).collect())
}

/// Whether the hints of a slice suit the allocations, in which case they are counted
/// (`getHintsByZone`).
fn keeps(slice: &EndpointSlice, counts: &mut ZoneCounts, allocations: &BTreeMap<&str, Allocation>) -> bool {
    let mut own = ZoneCounts::new();
    for endpoint in ready(slice) {
        let zones = endpoint.hints.as_deref().map_or(&[][..], |hints| &hints.for_zones);
        if zones.is_empty() {
            return false;
        }
        zones.iter().for_each(|zone| *own.entry(zone.name.clone()).or_default() += 1);
    }
    let fits = |(zone, number): (&String, &usize)| {
        let before = counts.get(zone).copied().unwrap_or_default();
        allocations.get(zone.as_str()).is_some_and(|allocation| before + number <= allocation.maximum)
    };
    if !own.iter().all(fits) {
        return false;
    }
    own.into_iter().for_each(|(zone, number)| *counts.entry(zone).or_default() += number);
    true
}

/// The endpoints that zones with too many give to zones with too few.
struct Transfers {
    giving: ZoneCounts,
    receiving: ZoneCounts,
}

impl Transfers {
    /// Of equal zones, the first by name gives or receives first. Upstream chooses any.
    /// (`getGivingAndReceivingZones`.)
    fn between(allocations: &BTreeMap<&str, Allocation>, counts: &ZoneCounts) -> Self {
        let (mut surplus, mut lack) = (BTreeMap::new(), BTreeMap::new());
        for (zone, allocation) in allocations {
            let difference = counts.get(*zone).copied().unwrap_or_default() as f64 - allocation.desired;
            let side = if difference > 0.0 { &mut surplus } else { &mut lack };
            side.insert(*zone, difference.abs());
        }
        let mut transfers = Transfers { giving: ZoneCounts::new(), receiving: ZoneCounts::new() };
        while let (Some((from, give)), Some((to, take))) = (most(&mut surplus), most(&mut lack)) {
            if f64::min(*give, *take) < 0.5 || f64::max(*give, *take) < 1.0 {
                break;
            }
            (*give, *take) = (*give - 1.0, *take - 1.0);
            *transfers.giving.entry(from.to_owned()).or_default() += 1;
            *transfers.receiving.entry(to.to_owned()).or_default() += 1;
        }
        transfers
    }

    /// The zone that receives an endpoint of a zone, if the zone has one to give.
    fn take(&mut self, from: &str) -> Option<String> {
        let left = self.giving.get_mut(from).filter(|left| **left > 0)?;
        let (to, wanted) = self.receiving.iter_mut().find(|(_, wanted)| **wanted > 0)?;
        (*left, *wanted) = (*left - 1, *wanted - 1);
        Some(to.clone())
    }
}

/// The zone with the greatest positive number (`getMost`).
fn most<'m, 'z>(zones: &'m mut BTreeMap<&'z str, f64>) -> Option<(&'z str, &'m mut f64)> {
    let mut found: Option<(&'z str, &'m mut f64)> = None;
    for (zone, number) in zones.iter_mut().filter(|(_, number)| **number > 0.0) {
        if found.as_ref().is_none_or(|(_, most)| *number > **most) {
            found = Some((zone, number));
        }
    }
    found
}

#[cfg(test)]
mod tests;
