//! The slot of one connection in the table.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

use super::{Stage, Table};

/// The slot of a connection; dropping it removes the connection from the table.
pub(crate) struct ConnectionSlot {
    table: Arc<Table>,
    id: u64,
    eviction: Arc<Notify>,
    is_authenticated: AtomicBool,
}

impl ConnectionSlot {
    pub(super) fn new(table: Arc<Table>, id: u64, eviction: Arc<Notify>) -> Self {
        ConnectionSlot { table, id, eviction, is_authenticated: AtomicBool::new(false) }
    }

    /// Records that the TLS handshake is complete.
    pub fn set_connected(&self) {
        self.table.set_stage(self.id, Stage::Unauthenticated);
    }

    /// Records that a request of the connection was authenticated as a user that is not anonymous.
    pub fn set_authenticated(&self) {
        if !self.is_authenticated() && !self.is_authenticated.swap(true, Ordering::Relaxed) {
            self.table.set_stage(self.id, Stage::Authenticated);
        }
    }

    /// Whether a request of the connection was authenticated.
    pub fn is_authenticated(&self) -> bool {
        self.is_authenticated.load(Ordering::Relaxed)
    }

    /// Records that HTTP has ended and the connection uses another protocol.
    pub fn set_upgraded(&self) {
        self.table.set_stage(self.id, Stage::Upgraded);
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
