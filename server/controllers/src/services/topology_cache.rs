//! What is known of the zones of nodes, and of the hints of each service that depend on them
//! (upstream: `topologycache.TopologyCache`).

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::node_state::NodeState;
use super::projection::Key;
use super::topology::{Refusal, ZoneCounts, ZoneShares, is_overloaded, zone_shares};

/// The hints of the endpoints of a service in one family.
#[derive(Clone, Debug, PartialEq)]
pub enum Hinted {
    /// Each ready endpoint has a hint; the endpoints of each zone.
    Assigned(ZoneCounts),
    /// No endpoint has a hint, for this reason.
    Refused(Refusal),
}

/// An event about the hints of a service.
#[derive(Debug, PartialEq)]
pub struct HintsEvent {
    /// Whether the service has hints now.
    pub is_enabled: bool,
    /// The message.
    pub message: String,
}

/// The shares of zones, and the services whose hints depend on them.
#[derive(Default)]
pub struct TopologyCache(Mutex<State>);

#[derive(Default)]
struct State {
    shares: Option<Arc<ZoneShares>>,
    services: HashMap<Key, BTreeMap<&'static str, Hinted>>,
}

impl TopologyCache {
    /// Reads the current nodes. Returns the services that have too few endpoints for a zone
    /// (`checkNodeTopologyDistribution`).
    pub fn set_nodes<'n>(&self, nodes: impl Iterator<Item = &'n NodeState>) -> Vec<Key> {
        let shares = zone_shares(nodes).map(Arc::new);
        let mut state = self.lock();
        state.shares.clone_from(&shares);
        let is_overloaded = |hinted: &Hinted| match hinted {
            Hinted::Assigned(counts) => is_overloaded(counts, shares.as_deref()),
            Hinted::Refused(_) => false,
        };
        let services = state.services.iter().filter(|(_, families)| families.values().any(is_overloaded));
        services.map(|(key, _)| key.clone()).collect()
    }

    /// The shares of the zones; `None` without sufficient information about nodes.
    pub fn shares(&self) -> Option<Arc<ZoneShares>> {
        self.lock().shares.clone()
    }

    /// Records the hints of a service in one family; `None` if the service does not request them.
    /// Returns an event when they change in kind.
    pub fn record(&self, key: &Key, family: &'static str, hinted: Option<Hinted>) -> Option<HintsEvent> {
        let mut state = self.lock();
        let had_hints = state.has_hints(key);
        let before = state.services.get(key).and_then(|families| families.get(family)).cloned();
        match &hinted {
            Some(hinted) => drop(state.services.entry(key.clone()).or_default().insert(family, hinted.clone())),
            None => state.remove(key, family),
        }
        let event = |is_enabled, message: &str| {
            Some(HintsEvent { is_enabled, message: format!("{message}, addressType: {family}") })
        };
        match (before, hinted) {
            (_, Some(Hinted::Assigned(_))) if !had_hints => event(true, "Topology Aware Hints has been enabled"),
            (Some(Hinted::Assigned(_)), None) => event(false, "Topology Aware Hints has been disabled"),
            (before, Some(Hinted::Refused(why))) if before != Some(Hinted::Refused(why)) => {
                event(false, &why.to_string())
            }
            _ => None,
        }
    }

    /// Forgets the families of a service that `has` does not contain; all of them, when it is empty.
    pub fn retain(&self, key: &Key, has: &[&str]) {
        let mut state = self.lock();
        let families: Vec<&'static str> =
            state.services.get(key).into_iter().flat_map(|families| families.keys().copied()).collect();
        families.into_iter().filter(|family| !has.contains(family)).for_each(|family| state.remove(key, family));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn has_hints(&self, key: &Key) -> bool {
        let families = self.services.get(key).into_iter().flat_map(BTreeMap::values);
        families.into_iter().any(|hinted| matches!(hinted, Hinted::Assigned(_)))
    }

    fn remove(&mut self, key: &Key, family: &str) {
        if let Some(families) = self.services.get_mut(key) {
            families.remove(family);
            if families.is_empty() {
                self.services.remove(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        ("n".to_owned(), "s".to_owned())
    }

    fn assigned(a: usize, b: usize) -> Option<Hinted> {
        Some(Hinted::Assigned(ZoneCounts::from([("a".to_owned(), a), ("b".to_owned(), b)])))
    }

    fn node(zone: &str, milli_cpu: i64) -> NodeState {
        NodeState { zone: Some(zone.to_owned()), milli_cpu, is_ready: true, is_control_plane: false }
    }

    #[test]
    fn kind_of_hints_has_an_event_when_it_changes() {
        let cache = TopologyCache::default();
        let record = |family, hinted| cache.record(&key(), family, hinted).map(|e| (e.is_enabled, e.message));
        let refused = || Some(Hinted::Refused(Refusal::EndpointWithoutZone));
        let event = |is_enabled, message: &str| Some((is_enabled, message.to_owned()));
        assert_eq!(record("IPv4", None), None);
        let no_zone = "One or more endpoints do not have a zone specified, addressType: IPv4";
        assert_eq!(record("IPv4", refused()), event(false, no_zone));
        assert_eq!(record("IPv4", refused()), None);
        let enabled = "Topology Aware Hints has been enabled, addressType: IPv4";
        assert_eq!(record("IPv4", assigned(1, 1)), event(true, enabled));
        assert_eq!(record("IPv4", assigned(2, 1)), None);
        assert_eq!(record("IPv6", assigned(1, 1)), None, "the service had hints");
        let disabled = "Topology Aware Hints has been disabled, addressType: IPv4";
        assert_eq!(record("IPv4", None), event(false, disabled));
        cache.retain(&key(), &["IPv4"]);
        assert_eq!(record("IPv4", assigned(1, 1)), event(true, enabled), "IPv6 was forgotten");
    }

    #[test]
    fn services_with_too_few_endpoints_of_a_zone_are_returned_when_nodes_change() {
        let cache = TopologyCache::default();
        let even = [node("a", 4000), node("b", 4000)];
        assert!(cache.set_nodes(even.iter()).is_empty());
        cache.record(&key(), "IPv4", assigned(2, 2));
        assert!(cache.set_nodes(even.iter()).is_empty());
        assert_eq!(cache.set_nodes([node("a", 1000), node("b", 9000)].iter()), [key()]);
        assert_eq!(cache.set_nodes(std::iter::empty()), [key()], "no information");
        assert!(cache.shares().is_none());
    }
}
