//! The place of one connection in the table.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

use super::{Stage, Table};

/// A connection's place, until this is dropped.
pub(crate) struct Place {
    table: Arc<Table>,
    id: u64,
    eviction: Arc<Notify>,
    is_authenticated: AtomicBool,
}

impl Place {
    pub(super) fn new(table: Arc<Table>, id: u64, eviction: Arc<Notify>) -> Self {
        Place { table, id, eviction, is_authenticated: AtomicBool::new(false) }
    }

    /// The TLS handshake is complete.
    pub fn set_connected(&self) {
        self.table.set_stage(self.id, Stage::Unauthenticated);
    }

    /// A request of the connection was authenticated as a user that is not anonymous.
    pub fn set_authenticated(&self) {
        if !self.is_authenticated() && !self.is_authenticated.swap(true, Ordering::Relaxed) {
            self.table.set_stage(self.id, Stage::Authenticated);
        }
    }

    /// Whether a request of the connection was authenticated.
    pub fn is_authenticated(&self) -> bool {
        self.is_authenticated.load(Ordering::Relaxed)
    }

    /// HTTP has ended; what goes on speaks another protocol.
    pub fn set_upgraded(&self) {
        self.table.set_stage(self.id, Stage::Upgraded);
    }

    /// Waits until the connection has to end at once.
    pub async fn evicted(&self) {
        self.eviction.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.table.leave(self.id);
    }
}
