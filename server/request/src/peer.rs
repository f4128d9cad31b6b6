//! The peer of a connection.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use crate::user::User;

/// The result of verifying the client certificate of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClientCertificate {
    /// The client sent no certificate, or no certificate authority is configured.
    #[default]
    None,
    /// Signed by a configured authority; the user is a member of `system:authenticated`.
    Valid(Arc<User>),
    /// Invalid credentials, with the reason for the log.
    Invalid(String),
}

impl ClientCertificate {
    /// A valid certificate of this user.
    pub fn of(user: User) -> Self {
        ClientCertificate::Valid(Arc::new(user.with_authenticated_group()))
    }
}

/// A connection as its requests see it.
pub trait Connection: Send + Sync {
    /// The user that the client certificate authenticates at this moment.
    fn client(&self) -> ClientCertificate;
    /// The front proxy that the client certificate authenticates at this moment.
    fn proxy(&self) -> ClientCertificate;
    /// Records that a request of the connection was authenticated as a user that is not anonymous.
    fn set_authenticated(&self);
    /// Closes the connection when the requests in flight are complete (HTTP/2: GOAWAY).
    fn close(&self);
}

/// The peer of a connection; in the extensions of each of its requests as `Arc<Peer>`.
pub struct Peer {
    pub address: SocketAddr,
    /// `None` for requests without a connection, in tests.
    connection: Option<Arc<dyn Connection>>,
}

impl Default for Peer {
    fn default() -> Self {
        Peer::at((Ipv4Addr::UNSPECIFIED, 0).into())
    }
}

impl Peer {
    /// A peer without a connection.
    pub fn at(address: SocketAddr) -> Self {
        Peer { address, connection: None }
    }

    /// The peer of a connection.
    pub fn new(address: SocketAddr, connection: Arc<dyn Connection>) -> Self {
        Peer { address, connection: Some(connection) }
    }

    /// The user that the client certificate authenticates at this moment.
    pub fn client(&self) -> ClientCertificate {
        self.connection.as_ref().map_or(ClientCertificate::None, |connection| connection.client())
    }

    /// The front proxy that the client certificate authenticates at this moment.
    pub fn proxy(&self) -> ClientCertificate {
        self.connection.as_ref().map_or(ClientCertificate::None, |connection| connection.proxy())
    }

    /// Records that a request of the connection was authenticated as a user that is not anonymous.
    pub fn set_authenticated(&self) {
        if let Some(connection) = &self.connection {
            connection.set_authenticated();
        }
    }

    /// Closes the connection when the requests in flight are complete (HTTP/2: GOAWAY).
    pub fn close(&self) {
        if let Some(connection) = &self.connection {
            connection.close();
        }
    }
}
