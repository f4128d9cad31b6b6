//! Connections that stop speaking HTTP: WebSocket and SPDY.
//!
//! The client's connection changes protocols only after the backend's has. Whatever else the backend answers is an answer like others, and
//! both connections end with it (CVE-2018-1002105).

use http::StatusCode;
use http::header::{CONNECTION, HeaderValue, UPGRADE};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use serving::{Body, Request, Response};
use tokio::io::{copy, split as split_io};
use webhook::Client;

use crate::throttle::Throttled;

/// Why a connection goes on in the protocol that it is in.
#[derive(Debug, thiserror::Error)]
pub enum UpgradeError {
    #[error("error dialing backend: {}", .0.cause())]
    Unreachable(#[source] webhook::Error),
    /// A code that neither changes protocols nor says what is wrong.
    #[error("invalid upgrade response: status code {0}")]
    Refused(u16),
}

pub use serving::websocket::wants_upgrade as is_wanted;

/// The request, and its connection once it stops speaking HTTP.
pub fn split(mut request: Request) -> (Request, OnUpgrade) {
    let client_side = hyper::upgrade::on(&mut request);
    (request, client_side)
}

/// Asks the server to change protocols, and joins the two connections when it does, at most so many bytes a second each way.
///
/// # Errors
/// When the server is not reached, or answers what makes no sense.
pub async fn pass_on(
    client: &Client,
    request: http::Request<webhook::Body>,
    client_side: OnUpgrade,
    bytes_per_second: Option<u64>,
) -> Result<Response, UpgradeError> {
    let mut response = client.send(request).await.map_err(UpgradeError::Unreachable)?;
    match response.status() {
        StatusCode::SWITCHING_PROTOCOLS => {
            let server_side = hyper::upgrade::on(&mut response);
            tokio::spawn(join(client_side, server_side, bytes_per_second));
            let mut answer = Response::default();
            *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
            *answer.headers_mut() = std::mem::take(response.headers_mut());
            Ok(answer)
        }
        code if code.as_u16() < 400 => Err(UpgradeError::Refused(code.as_u16())),
        _ => Ok(closing(response.map(Body::from))),
    }
}

/// An answer after which nothing more is said.
pub fn closing(mut answer: Response) -> Response {
    answer.headers_mut().remove(UPGRADE);
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// Carries bytes both ways until one side ends; then both have.
async fn join(client_side: OnUpgrade, server_side: OnUpgrade, bytes_per_second: Option<u64>) {
    match tokio::try_join!(client_side, server_side) {
        Ok((client, server)) => carry(client, Throttled::new(TokioIo::new(server), bytes_per_second)).await,
        Err(error) => tracing::debug!(%error, "a connection did not change protocols"),
    }
}

async fn carry(client: Upgraded, server: Throttled<TokioIo<Upgraded>>) {
    let (mut from_client, mut to_client) = split_io(TokioIo::new(client));
    let (mut from_server, mut to_server) = split_io(server);
    tokio::select! {
        _ = copy(&mut from_client, &mut to_server) => {}
        _ = copy(&mut from_server, &mut to_client) => {}
    }
}
