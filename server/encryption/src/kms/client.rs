//! Calls of a KMS plugin over its socket.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use grpc::{Code, Status, code_name, socket};
use prost::Message;

use super::messages::{
    DecryptRequest, DecryptResponse, EncryptRequest, EncryptResponse, StatusRequest, StatusResponse,
};
use super::source::Encrypted;
use crate::error::Error;
use crate::failure::TransformFailure;
use crate::metrics::Metrics;

pub(super) struct Client {
    provider: String,
    plugin: grpc::Client,
    timeout: Duration,
    metrics: Metrics,
}

impl Client {
    /// Prepares a connection to `unix:///path`, which is opened on first use and again after a failure.
    /// Needs a tokio runtime.
    ///
    /// # Errors
    /// When the endpoint is malformed.
    pub fn new(provider: &str, endpoint: &str, timeout: Duration, metrics: Metrics) -> Result<Self, Error> {
        let plugin = grpc::Client::new(&socket(endpoint), Some(timeout)).map_err(|why| Error::Plugin {
            name: provider.into(),
            endpoint: endpoint.into(),
            source: why.into(),
        })?;
        Ok(Client { provider: provider.into(), plugin, timeout, metrics })
    }

    /// Requests the plugin's status.
    pub async fn status(&self) -> Result<StatusResponse, TransformFailure> {
        self.call("/v2.KeyManagementService/Status", StatusRequest {}).await
    }

    /// Encrypts a seed.
    pub async fn encrypt(&self, uid: &str, seed: &[u8]) -> Result<EncryptResponse, TransformFailure> {
        let request = EncryptRequest { plaintext: seed.to_vec(), uid: uid.into() };
        self.call("/v2.KeyManagementService/Encrypt", request).await
    }

    /// Decrypts a seed or data key.
    pub async fn decrypt(&self, uid: &str, source: &Encrypted) -> Result<Vec<u8>, TransformFailure> {
        let Encrypted { ciphertext, key_id, annotations, .. } = source;
        let annotations: BTreeMap<_, _> = annotations.clone();
        let request =
            DecryptRequest { ciphertext: ciphertext.clone(), uid: uid.into(), key_id: key_id.clone(), annotations };
        let response: DecryptResponse = self.call("/v2.KeyManagementService/Decrypt", request).await?;
        Ok(response.plaintext)
    }

    async fn call<Q, A>(&self, method: &'static str, request: Q) -> Result<A, TransformFailure>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let begun = Instant::now();
        let answer = tokio::time::timeout(self.timeout, self.plugin.call(method, request)).await;
        let answer = answer.unwrap_or_else(|_| Err(Status::deadline_exceeded("context deadline exceeded")));
        let code = answer.as_ref().map_or_else(Status::code, |_| Code::Ok);
        self.metrics.called(&self.provider, method, code_name(code), begun.elapsed());
        answer.map_err(|status| TransformFailure::of_call(&status))
    }
}
