//! Protocol upgrades: WebSocket and SPDY.
//!
//! The client's connection is upgraded only after the backend's. Any other response of the backend
//! is returned, and both connections are closed after it (CVE-2018-1002105).

use http::StatusCode;
use http::header::{CONNECTION, HeaderValue, UPGRADE};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use request::{Body, Request, Response};
use tokio::io::{copy, split as split_io};
use webhook::Client;

use crate::error::Error;
use crate::throttle::Throttled;

pub use request::upgrade::wants_upgrade as is_wanted;

/// Returns the request, and a future of its upgraded connection.
pub fn split(mut request: Request) -> (Request, OnUpgrade) {
    let client_side = hyper::upgrade::on(&mut request);
    (request, client_side)
}

/// Requests an upgrade from the server, and joins the connections if it accepts. `bytes_per_second`
/// limits each direction.
///
/// # Errors
/// Returns an error if the server is unreachable, or for a status code below 400 other than 101.
pub async fn proxy_upgrade(
    client: &Client,
    request: http::Request<webhook::Body>,
    client_side: OnUpgrade,
    bytes_per_second: Option<u64>,
) -> Result<Response, Error> {
    let mut response = client.send(request).await.map_err(Error::Unreachable)?;
    match response.status() {
        StatusCode::SWITCHING_PROTOCOLS => {
            let server_side = hyper::upgrade::on(&mut response);
            tokio::spawn(join(client_side, server_side, bytes_per_second));
            let mut answer = Response::default();
            *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
            *answer.headers_mut() = std::mem::take(response.headers_mut());
            Ok(answer)
        }
        code if code.as_u16() < 400 => Err(Error::Refused(code.as_u16())),
        _ => Ok(closing(response.map(Body::from))),
    }
}

/// Marks a response as the last one of its connection.
pub fn closing(mut answer: Response) -> Response {
    answer.headers_mut().remove(UPGRADE);
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// Relays bytes in both directions until one side closes; then closes both.
async fn join(client_side: OnUpgrade, server_side: OnUpgrade, bytes_per_second: Option<u64>) {
    match tokio::try_join!(client_side, server_side) {
        Ok((client, server)) => relay(client, Throttled::new(TokioIo::new(server), bytes_per_second)).await,
        Err(error) => tracing::debug!(%error, "cannot upgrade a connection"),
    }
}

async fn relay(client: Upgraded, server: Throttled<TokioIo<Upgraded>>) {
    let (mut from_client, mut to_client) = split_io(TokioIo::new(client));
    let (mut from_server, mut to_server) = split_io(server);
    tokio::select! {
        _ = copy(&mut from_client, &mut to_server) => {}
        _ = copy(&mut from_server, &mut to_client) => {}
    }
}
