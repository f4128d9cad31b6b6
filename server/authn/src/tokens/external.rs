//! An external signer of service account tokens (KEP-740; upstream: `serviceaccount/externaljwt`).
//!
//! The signer is a separate process with a gRPC socket. Its private keys are not accessible to this server.

mod keys;
mod messages;
mod metrics;

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
use crate::Error;
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
    pub async fn connect(endpoint: &str, registry: &Registry) -> Result<Arc<Self>, Error> {
        const SETUP: &str = "while setting up external-jwt-signer";
        let client = Client::new(&socket(endpoint), None)
            .map_err(|why| Error::SignerSocket { endpoint: endpoint.to_owned(), why: why.to_string() })
            .map_err(Error::doing(SETUP))?;
        let keys = watch::Sender::new(None);
        let metrics = SignerMetrics::new(registry);
        let mut signer = ExternalSigner {
            client,
            metrics,
            keys,
            last_refresh: Mutex::default(),
            max_token_expiration: Duration::ZERO,
        };
        let filled = signer.fetch().await;
        let filled =
            filled.map_err(Error::doing("while initially filling key cache: while performing initial cache fill"));
        filled.map_err(Error::doing(SETUP))?;
        let metadata = signer.call(METADATA, MetadataRequest {}, METADATA_TIMEOUT).await;
        let MetadataResponse { max_token_expiration_seconds: longest } = metadata.map_err(Error::doing(SETUP))?;
        signer.max_token_expiration = match u64::try_from(longest).map(Duration::from_secs) {
            Ok(life) if longest >= MIN_TOKEN_AGE_SECONDS => life,
            _ => return Err(Error::TokenLife { longest, least: MIN_TOKEN_AGE_SECONDS }),
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
    ///
    /// # Errors
    /// When the flag exceeds the lifetime that the signer supports.
    pub fn check_max_expiration(&self, max_expiration: Option<Duration>) -> Result<(), Error> {
        let nanos = |life: Duration| i64::try_from(life.as_nanos()).unwrap_or(i64::MAX);
        let of = |life: Duration| scalar::Duration::from_nanos(nanos(life));
        match max_expiration.filter(|flag| *flag > self.max_token_expiration) {
            Some(flag) => Err(Error::MaxExpiration { flag: of(flag), signer: of(self.max_token_expiration) }),
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

    async fn fetch(&self) -> Result<(), Error> {
        let outcome = self.fetch_keys().await;
        self.metrics.fetched(&outcome);
        outcome.map(drop).map_err(Error::doing("while fetching token verification keys"))
    }

    async fn fetch_keys(&self) -> Result<Timestamp, Error> {
        let response: Result<FetchKeysResponse, _> = self.call(FETCH_KEYS, FetchKeysRequest {}, CALL_TIMEOUT).await;
        let response = response.map_err(Error::doing("while getting externally supported jwt signing keys"))?;
        let (keys, time) = keys::read(response)?;
        self.keys.send_replace(Some(Arc::new(keys)));
        Ok(time)
    }

    /// Signs claims and returns the token.
    pub(super) async fn sign(&self, claims: &[u8]) -> Result<String, Error> {
        let outcome = self.assemble(claims).await;
        self.metrics.signed(&outcome);
        outcome
    }

    async fn assemble(&self, claims: &[u8]) -> Result<String, Error> {
        let claims = URL_SAFE_NO_PAD.encode(claims);
        let response = self.call(SIGN, SignRequest { claims: claims.clone() }, CALL_TIMEOUT).await;
        let SignResponse { header, signature } = response.map_err(Error::doing("while signing jwt"))?;
        self.check_header(&header).await.map_err(Error::doing("while validating header"))?;
        match signature.as_str() {
            "" => Err(Error::EmptySignature),
            _ => Ok(format!("{header}.{claims}.{signature}")),
        }
    }

    /// Checks the header of a signed token. Keys that are excluded from the discovery documents must not sign.
    async fn check_header(&self, header: &str) -> Result<(), Error> {
        let key_id = read_header(header)?;
        if !self.current().is_some_and(|keys| keys.has(&key_id)) {
            self.refresh().await;
        }
        match self.current().is_some_and(|keys| keys.is_excluded(&key_id)) {
            true => Err(Error::ExcludedKey(key_id)),
            false => Ok(()),
        }
    }

    async fn call<Q, A>(&self, method: &'static str, message: Q, timeout: Duration) -> Result<A, Error>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let begin = Instant::now();
        let response = tokio::time::timeout(timeout, self.client.call_wait_for_ready(method, message)).await;
        let response = response.unwrap_or_else(|_| Err(Status::deadline_exceeded("context deadline exceeded")));
        let response = response.map_err(|status| Error::Signer(Box::new(status)));
        self.metrics.called(method, response.as_ref().map_or_else(Error::code, |_| "OK"), begin.elapsed());
        response
    }
}

/// Validates a header and returns its key ID (upstream: `validateJWTHeader`).
fn read_header(header: &str) -> Result<String, Error> {
    let json = URL_SAFE_NO_PAD.decode(header).map_err(Error::doing("while unwrapping header"))?;
    let header: Header = serde_json::from_slice(&json).map_err(Error::doing("while parsing header JSON"))?;
    match header {
        Header { typ, .. } if typ != "JWT" => Err(Error::HeaderType),
        Header { kid, .. } if kid.is_empty() => Err(Error::NoKeyId),
        Header { kid, .. } if kid.len() > MAX_KEY_ID_LENGTH => Err(Error::LongKeyId),
        Header { alg, .. } if !ALGORITHMS.contains(&&*alg) => Err(Error::HeaderAlgorithm(alg)),
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
            assert_eq!(read.map_err(|why| why.to_string()), expect.map(str::to_owned).map_err(str::to_owned), "{json}");
        };
        check(r#"{"typ":"JWT","alg":"ES256","kid":"a"}"#, Ok("a"));
        check(r#"{"alg":"ES256","kid":"a"}"#, Err("bad type"));
        check(r#"{"typ":"JWT","alg":"ES256"}"#, Err("key id missing"));
        check(r#"{"typ":"JWT","alg":"none","kid":"a"}"#, Err("bad signing algorithm \"none\""));
        let long = format!(r#"{{"typ":"JWT","alg":"RS256","kid":"{}"}}"#, "a".repeat(1025));
        check(&long, Err("key id longer than 1 kb"));
        let more = read_header(&URL_SAFE_NO_PAD.encode(r#"{"typ":"JWT","alg":"ES256","kid":"a","b64":false}"#));
        assert!(more.unwrap_err().to_string().starts_with("while parsing header JSON: unknown field `b64`"));
        assert!(read_header("%").unwrap_err().to_string().starts_with("while unwrapping header: "));
    }
}
