//! The state of the open connections, behind one lock.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use tokio::sync::Notify;

use super::ConnectionStage;
use super::client::ClientAddress;
use crate::listener::activity::Activity;

/// The number of stages, and of those from which connections can be evicted.
const STAGES: usize = 4;
const EVICTABLE: usize = 3;
/// How many connections of an address, and how many addresses, are searched for an idle connection.
const MAX_CONNECTIONS_SEARCHED: usize = 64;
const MAX_ADDRESSES_SEARCHED: usize = 8;

/// Which connections may be evicted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Victim {
    /// One that serves no request.
    Idle,
    /// One that serves no request if there is any, or else the oldest.
    Any,
}

struct Entry {
    address: ClientAddress,
    stage: ConnectionStage,
    activity: Arc<Activity>,
    eviction: Arc<Notify>,
}

/// The connections of an address.
#[derive(Default)]
struct Client {
    total: usize,
    /// The ids of connections by stage; newer ones have larger ids.
    connections: [BTreeSet<u64>; EVICTABLE],
}

#[derive(Default)]
pub(super) struct TableState {
    next: u64,
    entries: HashMap<u64, Entry>,
    counts: [usize; STAGES],
    clients: HashMap<ClientAddress, Client>,
    /// By stage, the addresses ordered by their number of connections in it.
    ranking: [BTreeSet<(usize, ClientAddress)>; EVICTABLE],
}

impl TableState {
    pub fn count(&self, stage: ConnectionStage) -> usize {
        self.counts[stage as usize]
    }

    /// The number of connections in each stage.
    pub fn counts(&self) -> [usize; STAGES] {
        self.counts
    }

    pub fn total(&self) -> usize {
        self.counts.iter().sum()
    }

    pub fn count_of(&self, address: ClientAddress) -> usize {
        self.clients.get(&address).map_or(0, |client| client.total)
    }

    /// Adds a connection that starts its handshake; returns its id and the notification of its
    /// eviction.
    pub fn enter(&mut self, address: ClientAddress, activity: Arc<Activity>) -> (u64, Arc<Notify>) {
        let (id, eviction) = (self.next, Arc::new(Notify::new()));
        self.next += 1;
        self.entries
            .insert(id, Entry { address, stage: ConnectionStage::Handshake, activity, eviction: eviction.clone() });
        self.add(id, address, ConnectionStage::Handshake);
        (id, eviction)
    }

    /// Changes the stage of a connection, unless it has been evicted.
    pub fn set_stage(&mut self, id: u64, stage: ConnectionStage) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        let (address, before) = (entry.address, std::mem::replace(&mut entry.stage, stage));
        self.remove(id, address, before);
        self.add(id, address, stage);
    }

    /// Removes a connection that has ended.
    pub fn leave(&mut self, id: u64) {
        if let Some(entry) = self.entries.remove(&id) {
            self.remove(id, entry.address, entry.stage);
        }
    }

    /// Evicts a connection of a stage: of the given address, or of the addresses with the most
    /// connections in the stage. Returns whether there was one.
    pub fn evict(&mut self, stage: ConnectionStage, address: Option<ClientAddress>, victim: Victim) -> bool {
        let ranking = &self.ranking[stage as usize];
        let addresses: Vec<ClientAddress> = match address {
            Some(address) => vec![address],
            None => ranking.iter().rev().take(MAX_ADDRESSES_SEARCHED).map(|(_, address)| *address).collect(),
        };
        let idle = addresses.iter().find_map(|address| self.oldest(stage, *address, true));
        let id = match victim {
            Victim::Idle => idle,
            Victim::Any => idle.or_else(|| addresses.iter().find_map(|address| self.oldest(stage, *address, false))),
        };
        let Some(entry) = id.and_then(|id| self.entries.remove(&id).map(|entry| (id, entry))) else { return false };
        let (id, entry) = entry;
        self.remove(id, entry.address, entry.stage);
        entry.eviction.notify_one();
        true
    }

    /// The oldest connection of an address in a stage; with `is_idle`, the first of the oldest that
    /// serves no request.
    fn oldest(&self, stage: ConnectionStage, address: ClientAddress, is_idle: bool) -> Option<u64> {
        let ids = &self.clients.get(&address)?.connections[stage as usize];
        let serves = |id: &u64| self.entries.get(id).is_some_and(|entry| entry.activity.in_flight() > 0);
        ids.iter().take(MAX_CONNECTIONS_SEARCHED).find(|id| !is_idle || !serves(id)).copied()
    }

    fn add(&mut self, id: u64, address: ClientAddress, stage: ConnectionStage) {
        self.counts[stage as usize] += 1;
        let client = self.clients.entry(address).or_default();
        client.total += 1;
        if let Some(ids) = client.connections.get_mut(stage as usize) {
            let ranking = &mut self.ranking[stage as usize];
            ranking.remove(&(ids.len(), address));
            ids.insert(id);
            ranking.insert((ids.len(), address));
        }
    }

    fn remove(&mut self, id: u64, address: ClientAddress, stage: ConnectionStage) {
        self.counts[stage as usize] -= 1;
        let Some(client) = self.clients.get_mut(&address) else { return };
        client.total -= 1;
        if let Some(ids) = client.connections.get_mut(stage as usize) {
            let ranking = &mut self.ranking[stage as usize];
            ranking.remove(&(ids.len(), address));
            ids.remove(&id);
            if !ids.is_empty() {
                ranking.insert((ids.len(), address));
            }
        }
        if client.total == 0 {
            self.clients.remove(&address);
        }
    }
}
