//! Tells systemd, if it started the server, how far that is (`sd_notify`).

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The variable that names the socket.
const SOCKET: &str = "NOTIFY_SOCKET";
/// Requests are served.
pub const READY: &str = "READY=1\n";
/// The server goes down.
pub const STOPPING: &str = "STOPPING=1\n";

/// Says something to systemd. Whether it hears does not matter to the server.
pub fn notify(state: &str) {
    if let Some(name) = std::env::var_os(SOCKET)
        && let Err(error) = send(name.as_encoded_bytes(), state)
    {
        tracing::debug!(%error, "telling systemd");
    }
}

/// A name that begins with `@` is one of the abstract namespace.
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
    fn systemd_hears() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        send(path.as_os_str().as_encoded_bytes(), READY).unwrap();
        let mut heard = [0; 64];
        let length = socket.recv(&mut heard).unwrap();
        assert_eq!(&heard[..length], READY.as_bytes());
        assert!(send(b"@nobody-listens-here-\x01", READY).is_err());
    }
}
