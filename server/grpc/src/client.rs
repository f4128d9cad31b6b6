//! A gRPC client.

use std::time::Duration;

use futures_core::Stream;
use http::Uri;
use http::uri::PathAndQuery;
use prost::Message;
use tokio::time::sleep;
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};
use tonic::{ConnectError, Request, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::error::Error;

/// Delay before a failed connection is retried: the first delay and the longest one (gRPC:
/// "Connection Backoff").
///
/// The first delay is shorter than gRPC's second, because servers on the same host start soon or
/// not at all.
const INITIAL_BACKOFF: Duration = Duration::from_millis(50);
const MAX_BACKOFF: Duration = Duration::from_secs(5);

/// A client with a lazy connection, which is re-established when it breaks. Clones share it.
#[derive(Clone, Debug)]
pub struct Client(Channel);

impl Client {
    /// Creates a client of `unix:/path` or `http://host:port`, with an optional connect timeout.
    /// Needs a tokio runtime.
    ///
    /// # Errors
    /// When the endpoint is malformed.
    pub fn new(endpoint: &str, timeout: Option<Duration>) -> Result<Self, Error> {
        let target = target(endpoint)?;
        let target = match timeout {
            Some(timeout) => target.connect_timeout(timeout),
            None => target,
        };
        Ok(Client(target.connect_lazy()))
    }

    /// Creates a client and connects it.
    ///
    /// # Errors
    /// When the endpoint is malformed, or the connection fails.
    pub async fn connected(endpoint: &str) -> Result<Self, Error> {
        let connected = target(endpoint)?.connect().await;
        connected.map(Client).map_err(|source| Error::Unreachable { endpoint: endpoint.to_owned(), source })
    }

    /// Sends a message, and waits for the response.
    ///
    /// # Errors
    /// The status that the server returns, or the reason of a failed call.
    pub async fn call<Q, A>(&self, method: &'static str, message: Q) -> Result<A, Status>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let codec = ProstCodec::<Q, A>::default();
        let method = PathAndQuery::from_static(method);
        let answer = self.ready().await?.unary(Request::new(message), method, codec).await?;
        Ok(answer.into_inner())
    }

    /// Like [`Client::call`], but waits while the server is unreachable (gRPC: "wait for ready").
    /// The caller sets a deadline.
    ///
    /// # Errors
    /// The status that the server returns, or the reason of a failed call.
    pub async fn call_wait_for_ready<Q, A>(&self, method: &'static str, message: Q) -> Result<A, Status>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let mut backoff = INITIAL_BACKOFF;
        loop {
            match self.call(method, message.clone()).await {
                Err(status) if is_unreachable(&status) => sleep(backoff).await,
                answer => return answer,
            }
            backoff = MAX_BACKOFF.min(backoff * 2);
        }
    }

    /// Opens a bidirectional stream.
    ///
    /// # Errors
    /// The status that the server returns, or the reason of a failed connection.
    pub async fn open<Q, A>(
        &self,
        method: &'static str,
        messages: impl Stream<Item = Q> + Send + 'static,
    ) -> Result<Streaming<A>, Status>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let codec = ProstCodec::<Q, A>::default();
        let method = PathAndQuery::from_static(method);
        let answer = self.ready().await?.streaming(Request::new(messages), method, codec).await?;
        Ok(answer.into_inner())
    }

    async fn ready(&self) -> Result<Grpc<Channel>, Status> {
        let mut grpc = Grpc::new(self.0.clone());
        grpc.ready().await.map_err(|error| Status::from_error(Box::new(error)))?;
        Ok(grpc)
    }
}

fn target(endpoint: &str) -> Result<Endpoint, Error> {
    let target = Endpoint::from_shared(endpoint.to_owned())
        .map_err(|source| Error::Endpoint { endpoint: endpoint.to_owned(), source })?;
    Ok(match endpoint.starts_with("unix:") {
        true => target.origin(Uri::from_static("http://localhost")),
        false => target,
    })
}

/// Whether a call failed because the connection could not be established.
fn is_unreachable(status: &Status) -> bool {
    let mut source = std::error::Error::source(status);
    while let Some(error) = source {
        if error.is::<ConnectError>() {
            return true;
        }
        source = error.source();
    }
    false
}

/// The endpoint of a Unix socket, in the form that [`Client::new`] takes (`util.ParseEndpoint`).
///
/// Accepts `/path` and `unix:///path`, and `@name` and `unix:///@name` for names in Linux's
/// abstract namespace.
pub fn socket(address: &str) -> String {
    let rest = address.strip_prefix("unix:").unwrap_or(address);
    let path = match rest.strip_prefix("//") {
        Some(rest) => rest.find('/').map_or("", |at| &rest[at..]),
        None => rest,
    };
    let name = path.strip_prefix("/@").or_else(|| path.strip_prefix('@'));
    name.map_or_else(|| format!("unix:{path}"), |name| format!("unix:\0{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_socket_paths_and_abstract_names() {
        for (address, expect) in [
            ("unix:///run/kms.sock", "unix:/run/kms.sock"),
            ("unix:/run/kms.sock", "unix:/run/kms.sock"),
            ("unix:///@kms", "unix:\0kms"),
            ("/run/signer.sock", "unix:/run/signer.sock"),
            ("@signer", "unix:\0signer"),
        ] {
            assert_eq!(socket(address), expect);
        }
    }

    #[tokio::test]
    async fn distinguishes_unreachable_from_refusing_server() {
        let folder = std::env::temp_dir().join("no-listener.sock");
        let client = Client::new(&socket(&folder.display().to_string()), None).unwrap();
        let status = client.call::<(), ()>("/method", ()).await.unwrap_err();
        assert!(is_unreachable(&status), "{status:?}");
        assert!(!is_unreachable(&Status::unavailable("not now")));
    }
}
