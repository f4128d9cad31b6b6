//! Calls of a KMS plugin over its socket.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use http::Uri;
use http::uri::PathAndQuery;
use prost::Message;
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};
use tonic_prost::ProstCodec;

use super::messages::{
    DecryptRequest, DecryptResponse, EncryptRequest, EncryptResponse, StatusRequest, StatusResponse,
};
use super::source::Encrypted;
use crate::failure::{Failure, code_name};
use crate::metrics::Metrics;

pub(super) struct Client {
    provider: String,
    channel: Channel,
    timeout: Duration,
    metrics: Metrics,
}

impl Client {
    /// Prepares a connection to `unix:///path`, which is made when it is first needed, and again when it broke. Needs a tokio runtime.
    pub fn new(provider: &str, endpoint: &str, timeout: Duration, metrics: Metrics) -> Result<Self, String> {
        let refused = |error| format!("failed to create connection to {endpoint}, error: {error}");
        let channel = Endpoint::from_shared(format!("unix:{}", socket(endpoint)))
            .map_err(refused)?
            .origin(Uri::from_static("http://localhost"))
            .connect_timeout(timeout)
            .connect_lazy();
        Ok(Client { provider: provider.into(), channel, timeout, metrics })
    }

    /// How the plugin is.
    pub async fn status(&self) -> Result<StatusResponse, Failure> {
        self.call("/v2.KeyManagementService/Status", StatusRequest {}).await
    }

    /// Has a seed encrypted.
    pub async fn encrypt(&self, uid: &str, seed: &[u8]) -> Result<EncryptResponse, Failure> {
        let request = EncryptRequest { plaintext: seed.to_vec(), uid: uid.into() };
        self.call("/v2.KeyManagementService/Encrypt", request).await
    }

    /// Has a seed or data key decrypted.
    pub async fn decrypt(&self, uid: &str, source: &Encrypted) -> Result<Vec<u8>, Failure> {
        let Encrypted { ciphertext, key_id, annotations, .. } = source;
        let annotations: BTreeMap<_, _> = annotations.clone();
        let request =
            DecryptRequest { ciphertext: ciphertext.clone(), uid: uid.into(), key_id: key_id.clone(), annotations };
        let response: DecryptResponse = self.call("/v2.KeyManagementService/Decrypt", request).await?;
        Ok(response.plaintext)
    }

    async fn call<Q, A>(&self, method: &'static str, request: Q) -> Result<A, Failure>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let begun = Instant::now();
        let answer = tokio::time::timeout(self.timeout, self.send(method, request)).await;
        let answer = answer.unwrap_or_else(|_| Err(Status::deadline_exceeded("context deadline exceeded")));
        let code = answer.as_ref().map_or_else(Status::code, |_| tonic::Code::Ok);
        self.metrics.called(&self.provider, method, code_name(code), begun.elapsed());
        answer.map_err(|status| Failure::of_call(&status))
    }

    async fn send<Q, A>(&self, method: &'static str, request: Q) -> Result<A, Status>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let mut grpc = Grpc::new(self.channel.clone());
        grpc.ready().await.map_err(|error| Status::from_error(Box::new(error)))?;
        let codec = ProstCodec::<Q, A>::default();
        let answer = grpc.unary(Request::new(request), PathAndQuery::from_static(method), codec).await?;
        Ok(answer.into_inner())
    }
}

/// The path of a socket. Of `unix:///@name`, the name in Linux's abstract namespace (`util.ParseEndpoint`).
fn socket(endpoint: &str) -> String {
    let rest = endpoint.strip_prefix("unix:").unwrap_or(endpoint);
    let path = match rest.strip_prefix("//") {
        Some(rest) => rest.find('/').map_or("", |at| &rest[at..]),
        None => rest,
    };
    path.strip_prefix("/@").map_or_else(|| path.into(), |name| format!("\0{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_are_files_or_names() {
        for (endpoint, expect) in [
            ("unix:///run/kms.sock", "/run/kms.sock"),
            ("unix:/run/kms.sock", "/run/kms.sock"),
            ("unix:///@kms", "\0kms"),
        ] {
            assert_eq!(socket(endpoint), expect);
        }
    }
}
