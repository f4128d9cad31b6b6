//! An external signer of service account tokens (KEP-740; upstream: `serviceaccount/externaljwt`).
//!
//! The signer is a separate process with a gRPC socket. Its private keys are not accessible to this server.

mod error;
mod keys;
mod messages;
mod metrics;

use std::fmt::Display;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use grpc::{Client, Status, socket};
use machinery::scalar;
use prometheus::Registry;
use prost::Message;
use prost_types::Timestamp;
use serde::Deserialize;
use tokio::sync::{Mutex, watch};

use super::token_keys::TokenKeys;
use error::SignerError;
use messages::{FetchKeysRequest, FetchKeysResponse, MetadataRequest, MetadataResponse, SignRequest, SignResponse};
use metrics::SignerMetrics;

const SIGN: &str = "/v1.ExternalJWTSigner/Sign";
const FETCH_KEYS: &str = "/v1.ExternalJWTSigner/FetchKeys";
const METADATA: &str = "/v1.ExternalJWTSigner/Metadata";

/// The timeout of Sign and FetchKeys calls, including the wait for an unavailable signer.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
/// The timeout of Metadata calls.
const METADATA_TIMEOUT: Duration = Duration::from_secs(10);
/// The interval before a failed key fetch is retried (upstream: `fallbackRefreshDuration`).
const RETRY_INTERVAL: Duration = Duration::from_secs(10);
/// The minimum lifetime of a token, in seconds (`validation.MinTokenAgeSec`).
const MIN_TOKEN_AGE_SECONDS: i64 = 600;
/// The maximum length of a key ID, in bytes.
const MAX_KEY_ID_LENGTH: usize = 1024;
/// The signature algorithms that the signer may use.
const ALGORITHMS: [&str; 4] = ["RS256", "ES256", "ES384", "ES512"];

/// The client of the signer, and the keys that it last returned.
#[derive(Debug)]
pub struct ExternalSigner {
    client: Client,
    metrics: SignerMetrics,
    keys: watch::Sender<Option<Arc<TokenKeys>>>,
    /// When the keys were last refreshed. The lock serializes refreshes.
    last_refresh: Mutex<Option<Instant>>,
    /// The maximum lifetime of a token of the signer.
    pub(super) max_token_expiration: Duration,
}

/// The allowed fields of the header of a token.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    #[serde(default)]
    alg: String,
    #[serde(default)]
    kid: String,
    #[serde(default)]
    typ: String,
}

impl ExternalSigner {
    /// Fetches the keys of the signer at a socket, and refreshes them in the background. Needs a tokio runtime.
    ///
    /// # Errors
    /// When the signer does not respond in time, or when its response is unusable.
    pub async fn connect(endpoint: &str, registry: &Registry) -> Result<Arc<Self>, String> {
        let failed = |what: &str, why: &dyn Display| format!("while setting up external-jwt-signer: {what}{why}");
        let client = Client::new(&socket(endpoint), None)
            .map_err(|why| failed(&format!("while dialing grpc socket at {endpoint:?}: "), &why))?;
        let keys = watch::Sender::new(None);
        let metrics = SignerMetrics::new(registry);
        let mut signer = ExternalSigner {
            client,
            metrics,
            keys,
            last_refresh: Mutex::default(),
            max_token_expiration: Duration::ZERO,
        };
        let filling = "while initially filling key cache: while performing initial cache fill: ";
        signer.fetch().await.map_err(|why| failed(filling, &why))?;
        let metadata = signer.call(METADATA, MetadataRequest {}, METADATA_TIMEOUT).await;
        let MetadataResponse { max_token_expiration_seconds: longest } = metadata.map_err(|why| failed("", &why))?;
        signer.max_token_expiration = match u64::try_from(longest).map(Duration::from_secs) {
            Ok(life) if longest >= MIN_TOKEN_AGE_SECONDS => life,
            _ => {
                return Err(format!(
                    "max token life supported by external-jwt-signer ({longest}s) is less than acceptable (min {MIN_TOKEN_AGE_SECONDS}s)"
                ));
            }
        };
        let signer = Arc::new(signer);
        tokio::spawn(Self::refresh_periodically(Arc::downgrade(&signer)));
        Ok(signer)
    }

    /// Returns a receiver of the current keys.
    pub(super) fn keys(&self) -> watch::Receiver<Option<Arc<TokenKeys>>> {
        self.keys.subscribe()
    }

    /// Checks the flag for the maximum token lifetime against that of the signer (upstream:
    /// `completeServiceAccountOptions`).
    pub fn check_max_expiration(&self, max_expiration: Option<Duration>) -> Result<(), String> {
        let text = |life: Duration| {
            scalar::Duration::from_nanos(i64::try_from(life.as_nanos()).unwrap_or(i64::MAX)).to_string()
        };
        match max_expiration.filter(|flag| *flag > self.max_token_expiration) {
            Some(flag) => Err(format!(
                "service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: {} > {}",
                text(flag),
                text(self.max_token_expiration)
            )),
            None => Ok(()),
        }
    }

    /// Refreshes the keys when they expire, until the signer is dropped.
    async fn refresh_periodically(signer: Weak<Self>) {
        let mut failed = false;
        loop {
            let Some(strong) = signer.upgrade() else { return };
            let pause =
                if failed { RETRY_INTERVAL } else { strong.current().map_or(RETRY_INTERVAL, |keys| keys.max_age()) };
            drop(strong);
            tokio::time::sleep(pause).await;
            let Some(strong) = signer.upgrade() else { return };
            let fetched = strong.fetch().await;
            failed = fetched.is_err();
            if let Err(error) = fetched {
                tracing::error!(%error, "cannot fetch the keys of the external signer; keeping the previous keys");
            }
        }
    }

    fn current(&self) -> Option<Arc<TokenKeys>> {
        self.keys.borrow().clone()
    }

    /// Refreshes the keys because of an unknown key ID, unless another task has refreshed them since the call.
    pub(super) async fn refresh(&self) {
        let begin = Instant::now();
        let mut last_refresh = self.last_refresh.lock().await;
        if last_refresh.is_some_and(|at| at >= begin) {
            return;
        }
        if let Err(error) = self.fetch().await {
            tracing::error!(%error, "cannot fetch the keys of the external signer");
        }
        *last_refresh = Some(Instant::now());
    }

    async fn fetch(&self) -> Result<(), SignerError> {
        let outcome = self.fetch_keys().await;
        self.metrics.fetched(&outcome);
        outcome.map(drop).map_err(|why| why.context("while fetching token verification keys"))
    }

    async fn fetch_keys(&self) -> Result<Timestamp, SignerError> {
        let response: Result<FetchKeysResponse, _> = self.call(FETCH_KEYS, FetchKeysRequest {}, CALL_TIMEOUT).await;
        let response = response.map_err(|why| why.context("while getting externally supported jwt signing keys"))?;
        let (keys, time) = keys::read(response).map_err(SignerError::new)?;
        self.keys.send_replace(Some(Arc::new(keys)));
        Ok(time)
    }

    /// Signs claims and returns the token.
    pub(super) async fn sign(&self, claims: &[u8]) -> Result<String, String> {
        let outcome = self.assemble(claims).await;
        self.metrics.signed(&outcome);
        outcome.map_err(|failure| failure.message)
    }

    async fn assemble(&self, claims: &[u8]) -> Result<String, SignerError> {
        let claims = URL_SAFE_NO_PAD.encode(claims);
        let response = self.call(SIGN, SignRequest { claims: claims.clone() }, CALL_TIMEOUT).await;
        let SignResponse { header, signature } = response.map_err(|why| why.context("while signing jwt"))?;
        self.check_header(&header).await.map_err(|why| SignerError::new(format!("while validating header: {why}")))?;
        match signature.as_str() {
            "" => Err(SignerError::new("empty signature returned")),
            _ => Ok(format!("{header}.{claims}.{signature}")),
        }
    }

    /// Checks the header of a signed token. Keys that are excluded from the discovery documents must not sign.
    async fn check_header(&self, header: &str) -> Result<(), String> {
        let key_id = read_header(header)?;
        if !self.current().is_some_and(|keys| keys.has(&key_id)) {
            self.refresh().await;
        }
        match self.current().is_some_and(|keys| keys.is_excluded(&key_id)) {
            true => Err(format!("key used for signing JWT (kid: {key_id}) is excluded from OIDC discovery docs")),
            false => Ok(()),
        }
    }

    async fn call<Q, A>(&self, method: &'static str, message: Q, timeout: Duration) -> Result<A, SignerError>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let begin = Instant::now();
        let response = tokio::time::timeout(timeout, self.client.call_wait_for_ready(method, message)).await;
        let response = response.unwrap_or_else(|_| Err(Status::deadline_exceeded("context deadline exceeded")));
        let response = response.map_err(|status| SignerError::of_call(&status));
        self.metrics.called(method, response.as_ref().map_or_else(|failure| failure.code, |_| "OK"), begin.elapsed());
        response
    }
}

/// Validates a header and returns its key ID (upstream: `validateJWTHeader`).
fn read_header(header: &str) -> Result<String, String> {
    let json = URL_SAFE_NO_PAD.decode(header).map_err(|why| format!("while unwrapping header: {why}"))?;
    let header: Header = serde_json::from_slice(&json).map_err(|why| format!("while parsing header JSON: {why}"))?;
    match header {
        Header { typ, .. } if typ != "JWT" => Err("bad type".into()),
        Header { kid, .. } if kid.is_empty() => Err("key id missing".into()),
        Header { kid, .. } if kid.len() > MAX_KEY_ID_LENGTH => Err("key id longer than 1 kb".into()),
        Header { alg, .. } if !ALGORITHMS.contains(&&*alg) => Err(format!("bad signing algorithm {alg:?}")),
        Header { kid, .. } => Ok(kid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn validates_headers() {
        let check = |json: &str, expect: Result<&str, &str>| {
            let read = read_header(&URL_SAFE_NO_PAD.encode(json));
            assert_eq!(read.as_deref().map_err(String::as_str), expect, "{json}");
        };
        check(r#"{"typ":"JWT","alg":"ES256","kid":"a"}"#, Ok("a"));
        check(r#"{"alg":"ES256","kid":"a"}"#, Err("bad type"));
        check(r#"{"typ":"JWT","alg":"ES256"}"#, Err("key id missing"));
        check(r#"{"typ":"JWT","alg":"none","kid":"a"}"#, Err("bad signing algorithm \"none\""));
        let long = format!(r#"{{"typ":"JWT","alg":"RS256","kid":"{}"}}"#, "a".repeat(1025));
        check(&long, Err("key id longer than 1 kb"));
        let more = read_header(&URL_SAFE_NO_PAD.encode(r#"{"typ":"JWT","alg":"ES256","kid":"a","b64":false}"#));
        assert!(more.unwrap_err().starts_with("while parsing header JSON: unknown field `b64`"));
        assert!(read_header("%").unwrap_err().starts_with("while unwrapping header: "));
    }
}
