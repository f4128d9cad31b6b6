//! The connection of a peer.

use std::sync::Arc;

use request::{ClientCertificate, Connection};
use tokio::sync::Notify;

use super::client_certificates::PresentedCertificate;
use super::table::ConnectionSlot;

/// What the requests of a connection share.
#[derive(Default)]
pub(super) struct PeerConnection {
    /// The certificate that the client presented.
    pub(super) certificate: Option<PresentedCertificate>,
    pub(super) close: Notify,
    pub(super) slot: Option<Arc<ConnectionSlot>>,
}

impl PeerConnection {
    /// Whether a request of the connection was authenticated as a user that is not anonymous.
    pub(super) fn is_authenticated(&self) -> bool {
        self.slot.as_ref().is_some_and(|slot| slot.is_authenticated())
    }
}

impl Connection for PeerConnection {
    fn client(&self) -> ClientCertificate {
        self.certificate.as_ref().map_or(ClientCertificate::None, PresentedCertificate::client)
    }

    fn proxy(&self) -> ClientCertificate {
        self.certificate.as_ref().map_or(ClientCertificate::None, PresentedCertificate::proxy)
    }

    fn set_authenticated(&self) {
        if let Some(slot) = &self.slot {
            slot.set_authenticated();
        }
    }

    fn close(&self) {
        self.close.notify_one();
    }
}
