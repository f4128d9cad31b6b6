//! A program that is called.

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

use crate::failure::innermost;

/// How long to wait before a program that is not there is looked for again, the first time and at most (gRPC: "Connection Backoff", from less
/// than its second, because programs beside this one are there soon or not at all).
const PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// A program and its connection, which is made when it is first needed, and again when it broke. Clones share it.
#[derive(Clone, Debug)]
pub struct Client(Channel);

impl Client {
    /// A program at `unix:/path` or `http://host:port`, to which a connection may take so long. Needs a tokio runtime.
    ///
    /// # Errors
    /// When the endpoint is none.
    pub fn new(endpoint: &str, patience: Option<Duration>) -> Result<Self, String> {
        let target = target(endpoint)?;
        let target = match patience {
            Some(patience) => target.connect_timeout(patience),
            None => target,
        };
        Ok(Client(target.connect_lazy()))
    }

    /// The same, connected now.
    ///
    /// # Errors
    /// When the endpoint is none, or nobody is there.
    pub async fn connected(endpoint: &str) -> Result<Self, String> {
        let connected = target(endpoint)?.connect().await;
        connected.map(Client).map_err(|error| innermost(&error))
    }

    /// Sends a message, and waits for the answer.
    ///
    /// # Errors
    /// What the program answers, or why there is no answer.
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

    /// The same, but waits for as long as the program is not there (gRPC: "wait for ready"). Whoever calls this sets a limit.
    ///
    /// # Errors
    /// What the program answers, or why there is no answer.
    pub async fn call_when_there<Q, A>(&self, method: &'static str, message: Q) -> Result<A, Status>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let mut pause = PAUSE;
        loop {
            match self.call(method, message.clone()).await {
                Err(status) if is_away(&status) => sleep(pause).await,
                answer => return answer,
            }
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }

    /// Opens a stream in each direction.
    ///
    /// # Errors
    /// What the program answers instead, or why it cannot be reached.
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

fn target(endpoint: &str) -> Result<Endpoint, String> {
    let target = Endpoint::from_shared(endpoint.to_owned()).map_err(|why| why.to_string())?;
    Ok(match endpoint.starts_with("unix:") {
        true => target.origin(Uri::from_static("http://localhost")),
        false => target,
    })
}

/// Whether there was nobody to be connected to.
fn is_away(status: &Status) -> bool {
    let mut source = std::error::Error::source(status);
    while let Some(error) = source {
        if error.is::<ConnectError>() {
            return true;
        }
        source = error.source();
    }
    false
}

/// The endpoint of a socket, as [`Client::new`] takes it: of `/path` or `unix:///path`, and of `@name` or `unix:///@name` the name in Linux's
/// abstract namespace (`util.ParseEndpoint`).
pub fn socket(said: &str) -> String {
    let rest = said.strip_prefix("unix:").unwrap_or(said);
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
    fn sockets_are_files_or_names() {
        for (said, expect) in [
            ("unix:///run/kms.sock", "unix:/run/kms.sock"),
            ("unix:/run/kms.sock", "unix:/run/kms.sock"),
            ("unix:///@kms", "unix:\0kms"),
            ("/run/signer.sock", "unix:/run/signer.sock"),
            ("@signer", "unix:\0signer"),
        ] {
            assert_eq!(socket(said), expect);
        }
    }

    #[tokio::test]
    async fn who_is_away_is_told_from_who_refuses() {
        let folder = std::env::temp_dir().join("nobody-listens-here.sock");
        let client = Client::new(&socket(&folder.display().to_string()), None).unwrap();
        let status = client.call::<(), ()>("/nobody", ()).await.unwrap_err();
        assert!(is_away(&status), "{status:?}");
        assert!(!is_away(&Status::unavailable("not now")));
    }
}
