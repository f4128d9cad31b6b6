//! Notifies systemd, if it started the server, of state changes (`sd_notify`).

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// The variable with the address of the socket.
const SOCKET: &str = "NOTIFY_SOCKET";
/// The variable with the timeout of the watchdog in microseconds.
const WATCHDOG_TIMEOUT: &str = "WATCHDOG_USEC";
/// The variable with the id of the process that the watchdog monitors; absent for any process.
const WATCHDOG_PROCESS: &str = "WATCHDOG_PID";
/// The server is ready.
pub const READY: &str = "READY=1\n";
/// The server is shutting down.
pub const STOPPING: &str = "STOPPING=1\n";
/// The server makes progress.
const ALIVE: &str = "WATCHDOG=1\n";

/// Sends a state to systemd. Failures are logged and otherwise ignored.
pub fn notify(state: &str) {
    if let Some(name) = std::env::var_os(SOCKET)
        && let Err(error) = send(name.as_encoded_bytes(), state)
    {
        tracing::debug!(%error, "cannot notify systemd");
    }
}

/// Starts the notifications of the watchdog, if the unit has one (`WatchdogSec=`).
///
/// A task sends them, so that systemd restarts a server whose runtime has no free thread.
pub fn start_watchdog() {
    let variable = |name| std::env::var(name).ok();
    let Some(interval) = interval(variable(WATCHDOG_TIMEOUT), variable(WATCHDOG_PROCESS), std::process::id()) else {
        return;
    };
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(interval);
        loop {
            ticks.tick().await;
            notify(ALIVE);
        }
    });
}

/// Half the timeout of the watchdog, as systemd recommends; `None` without a watchdog for this process.
fn interval(timeout: Option<String>, process: Option<String>, own: u32) -> Option<Duration> {
    if process.is_some_and(|process| process.parse() != Ok(own)) {
        return None;
    }
    let microseconds: u64 = timeout?.parse().ok()?;
    (microseconds > 1).then(|| Duration::from_micros(microseconds / 2))
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

    #[test]
    fn watchdog_is_notified_twice_per_timeout() {
        let of = |timeout: &str, process: Option<&str>| interval(Some(timeout.into()), process.map(str::to_owned), 7);
        assert_eq!(of("60000000", None), Some(Duration::from_secs(30)));
        assert_eq!(of("60000000", Some("7")), Some(Duration::from_secs(30)));
        assert_eq!(of("60000000", Some("8")), None, "the watchdog of another process");
        assert_eq!(of("0", None), None);
        assert_eq!(of("soon", None), None);
        assert_eq!(interval(None, None, 7), None);
    }
}
