//! Notifies systemd, if it started the server, of state changes (`sd_notify`).

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The variable with the address of the socket.
const SOCKET: &str = "NOTIFY_SOCKET";
/// The server is ready.
pub const READY: &str = "READY=1\n";
/// The server is shutting down.
pub const STOPPING: &str = "STOPPING=1\n";

/// Sends a state to systemd. Failures are logged and otherwise ignored.
pub fn notify(state: &str) {
    if let Some(name) = std::env::var_os(SOCKET)
        && let Err(error) = send(name.as_encoded_bytes(), state)
    {
        tracing::debug!(%error, "cannot notify systemd");
    }
}

/// A name that begins with `@` is in the abstract namespace.
fn send(name: &[u8], state: &str) -> std::io::Result<()> {
    let address = match name.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(String::from_utf8_lossy(name).as_ref())?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sends_state_to_socket() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        send(path.as_os_str().as_encoded_bytes(), READY).unwrap();
        let mut received = [0; 64];
        let length = socket.recv(&mut received).unwrap();
        assert_eq!(&received[..length], READY.as_bytes());
        assert!(send(b"@no-such-listener-\x01", READY).is_err());
    }
}
