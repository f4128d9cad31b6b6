//! The table of open connections, and the eviction when a limit is reached.
//!
//! A connection starts with its TLS handshake, then waits for its first authenticated request, and
//! counts as authenticated afterwards. When a share is full, a connection of the address with the
//! most connections in the share is evicted. It is the oldest one that serves no request. A client
//! that opens many connections thus mostly evicts its own.

mod client;
mod stage;
mod state;

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use telemetry::logging::LogLimit;
use telemetry::metrics::ConnectionMetrics;
use tokio::sync::Notify;

use super::activity::Activity;
use super::limits::ConnectionLimits;
use client::ClientAddress;
pub(super) use stage::ConnectionStage;
use state::{TableState, Victim};

/// The reason why a connection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExceededLimit {
    /// The limit of its address is reached, and all its connections serve requests.
    Address,
    /// The limit of all connections is reached, and all of them serve requests.
    Total,
}

impl ExceededLimit {
    pub fn name(self) -> &'static str {
        match self {
            ExceededLimit::Address => "address",
            ExceededLimit::Total => "total",
        }
    }
}

/// The open connections.
pub(super) struct Table {
    state: Mutex<TableState>,
    limits: ConnectionLimits,
    metrics: ConnectionMetrics,
    evictions: LogLimit,
    refusals: LogLimit,
}

impl Table {
    pub fn new(limits: ConnectionLimits, metrics: ConnectionMetrics) -> Self {
        Table {
            state: Mutex::default(),
            limits,
            metrics,
            evictions: LogLimit::default(),
            refusals: LogLimit::default(),
        }
    }

    /// Adds a connection, and evicts another one where a share is full.
    ///
    /// # Errors
    /// A limit is reached and all connections that could be evicted serve requests.
    pub fn admit(
        self: &Arc<Self>,
        address: IpAddr,
        activity: &Arc<Activity>,
    ) -> Result<Arc<ConnectionSlot>, ExceededLimit> {
        let address = ClientAddress::from(address);
        let mut state = self.lock();
        let room = self.make_room(&mut state, address);
        let entered = room.map(|()| state.enter(address, activity.clone()));
        self.metrics.show(state.counts());
        drop(state);
        match entered {
            Ok((id, eviction)) => Ok(Arc::new(ConnectionSlot::new(self.clone(), id, eviction))),
            Err(refusal) => {
                self.metrics.refused(refusal.name());
                if let Some(unlogged) = self.refusals.admit() {
                    tracing::warn!(limit = refusal.name(), unlogged, "refused a connection: too many are open");
                }
                Err(refusal)
            }
        }
    }

    /// Evicts an idle connection of any stage: the process cannot open more files.
    pub fn evict_for_files(&self) {
        let mut state = self.lock();
        self.evict_idle(&mut state, None, "files");
    }

    fn make_room(&self, state: &mut TableState, address: ClientAddress) -> Result<(), ExceededLimit> {
        let limits = &self.limits;
        if state.count_of(address) >= limits.per_address && !self.evict_idle(state, Some(address), "address") {
            return Err(ExceededLimit::Address);
        }
        if state.count(ConnectionStage::Handshake) >= limits.handshaking {
            self.evict(state, ConnectionStage::Handshake, None, Victim::Any, "handshakes");
        }
        if state.count(ConnectionStage::Handshake) + state.count(ConnectionStage::Unauthenticated)
            >= limits.unauthenticated
            && !self.evict(state, ConnectionStage::Unauthenticated, None, Victim::Any, "unauthenticated")
        {
            self.evict(state, ConnectionStage::Handshake, None, Victim::Any, "unauthenticated");
        }
        if state.total() >= limits.total && !self.evict_idle(state, None, "total") {
            return Err(ExceededLimit::Total);
        }
        Ok(())
    }

    /// Evicts a connection: an unauthenticated one if there is any, or else one that serves no
    /// request. Returns whether there was one.
    fn evict_idle(&self, state: &mut TableState, address: Option<ClientAddress>, limit: &'static str) -> bool {
        self.evict(state, ConnectionStage::Unauthenticated, address, Victim::Any, limit)
            || self.evict(state, ConnectionStage::Handshake, address, Victim::Any, limit)
            || self.evict(state, ConnectionStage::Authenticated, address, Victim::Idle, limit)
    }

    fn evict(
        &self,
        state: &mut TableState,
        stage: ConnectionStage,
        address: Option<ClientAddress>,
        victim: Victim,
        limit: &'static str,
    ) -> bool {
        let is_evicted = state.evict(stage, address, victim);
        if is_evicted {
            self.metrics.evicted(limit);
            if let Some(unlogged) = self.evictions.admit() {
                tracing::warn!(limit, unlogged, "evicted the oldest idle connection: too many are open");
            }
        }
        is_evicted
    }

    fn set_stage(&self, id: u64, stage: ConnectionStage) {
        let mut state = self.lock();
        state.set_stage(id, stage);
        self.metrics.show(state.counts());
    }

    fn leave(&self, id: u64) {
        let mut state = self.lock();
        state.leave(id);
        self.metrics.show(state.counts());
    }

    fn lock(&self) -> MutexGuard<'_, TableState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The slot of a connection; dropping it removes the connection from the table.
pub(crate) struct ConnectionSlot {
    table: Arc<Table>,
    id: u64,
    eviction: Arc<Notify>,
    is_authenticated: AtomicBool,
}

impl ConnectionSlot {
    fn new(table: Arc<Table>, id: u64, eviction: Arc<Notify>) -> Self {
        ConnectionSlot { table, id, eviction, is_authenticated: AtomicBool::new(false) }
    }

    /// Records that the TLS handshake is complete.
    pub fn set_connected(&self) {
        self.table.set_stage(self.id, ConnectionStage::Unauthenticated);
    }

    /// Records that a request of the connection was authenticated as a user that is not anonymous.
    pub fn set_authenticated(&self) {
        if !self.is_authenticated() && !self.is_authenticated.swap(true, Ordering::Relaxed) {
            self.table.set_stage(self.id, ConnectionStage::Authenticated);
        }
    }

    /// Whether a request of the connection was authenticated.
    pub fn is_authenticated(&self) -> bool {
        self.is_authenticated.load(Ordering::Relaxed)
    }

    /// Records that HTTP has ended and the connection uses another protocol.
    pub fn set_upgraded(&self) {
        self.table.set_stage(self.id, ConnectionStage::Upgraded);
    }

    /// Waits until the connection is evicted.
    pub async fn evicted(&self) {
        self.eviction.notified().await;
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.table.leave(self.id);
    }
}

#[cfg(test)]
mod tests;
