//! Clients that open as many connections as they can.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::support::{ADMIN, Target, token};
use crate::tls::Dialer;

/// The usual limit of open files, and the number of connections in the review (finding B11).
const OPEN_FILES: u32 = 1_024;
const CONNECTIONS: usize = 1_006;
/// Number of connections established concurrently.
const AT_A_TIME: usize = 32;
/// How long another client may wait. Before the fix, it waited for the timeout of handshakes or
/// idle connections.
const TIMEOUT: Duration = Duration::from_secs(8);

/// Opens connections and keeps those that succeed.
async fn flood<C, F: Future<Output = Option<C>>>(connect: impl Fn() -> F) -> Vec<C> {
    let connections = stream::iter(0..CONNECTIONS).map(|_| connect()).buffer_unordered(AT_A_TIME);
    connections.filter_map(std::future::ready).collect().await
}

/// Fails unless a new client is served within `TIMEOUT` and the server is alive.
async fn assert_serves_others(target: &Target) {
    for _ in 0..3 {
        let fresh = Dialer::new(&target.server, None, false);
        let authorization = format!("Bearer {}", token(ADMIN));
        let served = timeout(TIMEOUT, async {
            let mut connection = fresh.http().await.unwrap();
            connection.get("/api/v1/namespaces/default", &[("Authorization", &authorization)]).await.unwrap()
        });
        assert_eq!(served.await, Ok(200), "another client waits");
    }
    target.assert_alive().await;
}

/// Finding B11: idle connections of one client locked out all other clients.
#[tokio::test]
async fn idle_connections_do_not_block_other_clients() {
    let target = Target::start_with_files(OPEN_FILES, &[]);
    let dialer = Dialer::new(&target.server, None, false);
    let idle = flood(async || timeout(TIMEOUT, dialer.tls()).await.ok()?.ok()).await;
    assert_serves_others(&target).await;
    drop(idle);
    let log = target.end();
    let about = log.lines().filter(|line| line.starts_with('W') && line.contains("connection")).count();
    assert!((1..100).contains(&about), "{about} lines about connections");
}

/// Finding B11, with a client that sends a request on each connection.
#[tokio::test]
async fn anonymous_connections_do_not_block_other_clients() {
    let target = Target::start_with_files(OPEN_FILES, &[]);
    let dialer = Dialer::new(&target.server, None, false);
    let idle = flood(async || {
        let mut connection = timeout(TIMEOUT, dialer.http()).await.ok()?.ok()?;
        timeout(TIMEOUT, connection.get("/livez", &[])).await.ok()?.ok()?;
        Some(connection)
    });
    let idle = idle.await;
    assert_serves_others(&target).await;
    drop(idle);
}

/// Finding B11, with a client that never begins the TLS handshake.
#[tokio::test]
async fn unfinished_handshakes_do_not_block_other_clients() {
    let target = Target::start_with_files(OPEN_FILES, &[]);
    let dialer = Dialer::new(&target.server, None, false);
    let silent = flood(async || timeout(TIMEOUT, dialer.tcp()).await.ok()?.ok()).await;
    assert_serves_others(&target).await;
    drop(silent);
}

/// Finding B11, with an authenticated user: the connections count as authenticated.
#[tokio::test]
async fn authenticated_connections_do_not_block_other_clients() {
    let target = Target::start_with_files(OPEN_FILES, &[]);
    let dialer = Dialer::new(&target.server, None, false).source_address([127, 0, 0, 2]);
    let authorization = format!("Bearer {}", token("mallory"));
    let idle = flood(async || {
        let mut connection = timeout(TIMEOUT, dialer.http()).await.ok()?.ok()?;
        timeout(TIMEOUT, connection.get("/version", &[("Authorization", &authorization)])).await.ok()?.ok()?;
        Some(connection)
    });
    let idle = idle.await;
    assert_serves_others(&target).await;
    drop(idle);
}

/// A connection ends gracefully at the configured maximum age.
#[tokio::test]
async fn closes_connections_at_maximum_age() {
    let target = Target::start(&["--max-connection-age=1s"]);
    let mut connection = Dialer::new(&target.server, None, false).http().await.unwrap();
    assert_eq!(connection.get("/livez", &[]).await.unwrap(), 200);
    let ended = async { while connection.get("/livez", &[]).await.is_ok() {} };
    assert!(timeout(Duration::from_secs(60), ended).await.is_ok(), "the connection is still open");
    target.assert_alive().await;
}

/// Watches through WebSockets; the clients read nothing and send an incomplete long message.
#[tokio::test]
async fn stalled_websockets_take_bounded_memory() {
    const SOCKETS: usize = 200;
    /// Buffering the sent bytes without a bound would take 1.6 GB.
    const SENT: usize = 8 << 20;
    const ALLOWED: u64 = 192 << 20;
    let target = Target::start(&[]);
    let before = target.memory().resident;
    let handshake = format!(
        "GET /api/v1/configmaps?watch=1 HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\nUpgrade: websocket\r\n\
         Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\nAuthorization: Bearer {}\r\n\r\n",
        token(ADMIN)
    );
    let dialer = Dialer::new(&target.server, None, false);
    let mut sockets = Vec::new();
    for _ in 0..SOCKETS {
        let mut socket = dialer.tls().await.unwrap();
        socket.write_all(handshake.as_bytes()).await.unwrap();
        socket.flush().await.unwrap();
        let mut head = [0; 12];
        socket.read_exact(&mut head).await.unwrap();
        assert_eq!(&head, b"HTTP/1.1 101");
        // An incomplete binary frame; the zero mask leaves the payload unchanged.
        let mut frame = vec![0x82, 0xff];
        frame.extend_from_slice(&(SENT as u64 + 1).to_be_bytes());
        frame.extend_from_slice(&[0; 4]);
        frame.resize(frame.len() + SENT, 0);
        // The server may already have stopped reading.
        let _ = timeout(TIMEOUT, socket.write_all(&frame)).await;
        sockets.push(socket);
    }
    let object = serde_json::json!({"metadata": {"name": "large"}, "data": {"k": "v".repeat(900 << 10)}});
    target.create("/api/v1/namespaces/default/configmaps", &object).await;
    assert_serves_others(&target).await;
    let taken = target.memory().peak.saturating_sub(before);
    assert!(taken < ALLOWED, "{} MiB", taken >> 20);
}
