//! A program beside the server that signs tokens of service accounts with keys that the server never sees (KEP-740; upstream:
//! `serviceaccount/externaljwt`).

mod keys;
mod messages;
mod metrics;

use std::fmt::Display;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use grpc::{Client, Status, code_name, describe, socket};
use machinery::scalar;
use prometheus::Registry;
use prost::Message;
use prost_types::Timestamp;
use serde::Deserialize;
use tokio::sync::{Mutex, watch};

use super::TokenKeys;
use messages::{FetchKeysRequest, FetchKeysResponse, MetadataRequest, MetadataResponse, SignRequest, SignResponse};
use metrics::SignerMetrics;

const SIGN: &str = "/v1.ExternalJWTSigner/Sign";
const FETCH_KEYS: &str = "/v1.ExternalJWTSigner/FetchKeys";
const METADATA: &str = "/v1.ExternalJWTSigner/Metadata";

/// How long a signature may take, and asking for keys; both wait for a signer that is not there.
const PATIENCE: Duration = Duration::from_secs(60);
const METADATA_PATIENCE: Duration = Duration::from_secs(10);
/// When keys are asked for again that could not be had.
const FALLBACK: Duration = Duration::from_secs(10);
/// The shortest life that tokens can be asked for, in seconds (`validation.MinTokenAgeSec`).
const SHORTEST_LIFE: i64 = 600;
const LONGEST_KEY_ID: usize = 1024;
/// Ways to sign that servers of Kubernetes can verify.
const ALGORITHMS: [&str; 4] = ["RS256", "ES256", "ES384", "ES512"];

/// The signer, and the keys that it said it has.
#[derive(Debug)]
pub(crate) struct ExternalSigner {
    client: Client,
    metrics: SignerMetrics,
    keys: watch::Sender<Option<Arc<TokenKeys>>>,
    /// When the keys were last asked for. One asks at a time.
    asked: Mutex<Option<Instant>>,
    /// The longest life of a token that the signer signs.
    pub(super) longest_life: Duration,
}

/// What the header of a token may say.
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

/// Why something did not come to be, in upstream's words, and what metrics call it.
#[derive(Debug)]
struct Failure {
    message: String,
    code: &'static str,
}

impl Failure {
    /// Something that the signer said cannot be used.
    fn new(message: impl Into<String>) -> Self {
        Failure { message: message.into(), code: "unknown-non-grpc" }
    }

    fn of_call(status: &Status) -> Self {
        Failure { message: describe(status), code: code_name(status.code()) }
    }

    /// Says what was being done.
    fn during(self, what: &str) -> Self {
        Failure { message: format!("{what}: {}", self.message), ..self }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl ExternalSigner {
    /// Asks the signer at a socket for its keys, and goes on to do so. Needs a tokio runtime.
    ///
    /// # Errors
    /// When it does not answer in time, or in a way that cannot be used.
    pub(crate) async fn connect(endpoint: &str, registry: &Registry) -> Result<Arc<Self>, String> {
        let failed = |what: &str, why: &dyn Display| format!("while setting up external-jwt-signer: {what}{why}");
        let client = Client::new(&socket(endpoint), None)
            .map_err(|why| failed(&format!("while dialing grpc socket at {endpoint:?}: "), &why))?;
        let keys = watch::Sender::new(None);
        let metrics = SignerMetrics::new(registry);
        let mut signer =
            ExternalSigner { client, metrics, keys, asked: Mutex::default(), longest_life: Duration::ZERO };
        let filling = "while initially filling key cache: while performing initial cache fill: ";
        signer.fetch().await.map_err(|why| failed(filling, &why))?;
        let metadata = signer.call(METADATA, MetadataRequest {}, METADATA_PATIENCE).await;
        let MetadataResponse { max_token_expiration_seconds: longest } = metadata.map_err(|why| failed("", &why))?;
        signer.longest_life = match u64::try_from(longest).map(Duration::from_secs) {
            Ok(life) if longest >= SHORTEST_LIFE => life,
            _ => {
                return Err(format!(
                    "max token life supported by external-jwt-signer ({longest}s) is less than acceptable (min {SHORTEST_LIFE}s)"
                ));
            }
        };
        let signer = Arc::new(signer);
        tokio::spawn(Self::follow(Arc::downgrade(&signer)));
        Ok(signer)
    }

    /// The keys at each moment.
    pub(super) fn keys(&self) -> watch::Receiver<Option<Arc<TokenKeys>>> {
        self.keys.subscribe()
    }

    /// Whether tokens may last as long as a flag says (upstream: `completeServiceAccountOptions`).
    pub(crate) fn check_life(&self, asked: Option<Duration>) -> Result<(), String> {
        let text = |life: Duration| {
            scalar::Duration::from_nanos(i64::try_from(life.as_nanos()).unwrap_or(i64::MAX)).to_string()
        };
        match asked.filter(|asked| *asked > self.longest_life) {
            Some(asked) => Err(format!(
                "service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: {} > {}",
                text(asked),
                text(self.longest_life)
            )),
            None => Ok(()),
        }
    }

    /// Asks for the keys whenever they may have become others, for as long as anybody uses them.
    async fn follow(signer: Weak<Self>) {
        let mut failed = false;
        loop {
            let Some(strong) = signer.upgrade() else { return };
            let pause = if failed { FALLBACK } else { strong.current().map_or(FALLBACK, |keys| keys.max_age()) };
            drop(strong);
            tokio::time::sleep(pause).await;
            let Some(strong) = signer.upgrade() else { return };
            let fetched = strong.fetch().await;
            failed = fetched.is_err();
            if let Err(error) = fetched {
                tracing::error!(%error, "asking the signer for its keys; those known before count on");
            }
        }
    }

    fn current(&self) -> Option<Arc<TokenKeys>> {
        self.keys.borrow().clone()
    }

    /// Asks for the keys because somebody met one that is not known, unless somebody else has asked since.
    pub(super) async fn refresh(&self) {
        let begin = Instant::now();
        let mut asked = self.asked.lock().await;
        if asked.is_some_and(|at| at >= begin) {
            return;
        }
        if let Err(error) = self.fetch().await {
            tracing::error!(%error, "asking the signer for its keys");
        }
        *asked = Some(Instant::now());
    }

    async fn fetch(&self) -> Result<(), Failure> {
        let outcome = self.ask_for_keys().await;
        self.metrics.fetched(&outcome);
        outcome.map(drop).map_err(|why| why.during("while fetching token verification keys"))
    }

    async fn ask_for_keys(&self) -> Result<Timestamp, Failure> {
        let response: Result<FetchKeysResponse, _> = self.call(FETCH_KEYS, FetchKeysRequest {}, PATIENCE).await;
        let response = response.map_err(|why| why.during("while getting externally supported jwt signing keys"))?;
        let (keys, time) = keys::read(response).map_err(Failure::new)?;
        self.keys.send_replace(Some(Arc::new(keys)));
        Ok(time)
    }

    /// Makes claims a token.
    pub(super) async fn sign(&self, claims: &[u8]) -> Result<String, String> {
        let outcome = self.assemble(claims).await;
        self.metrics.signed(&outcome);
        outcome.map_err(|failure| failure.message)
    }

    async fn assemble(&self, claims: &[u8]) -> Result<String, Failure> {
        let claims = URL_SAFE_NO_PAD.encode(claims);
        let response = self.call(SIGN, SignRequest { claims: claims.clone() }, PATIENCE).await;
        let SignResponse { header, signature } = response.map_err(|why| why.during("while signing jwt"))?;
        self.check(&header).await.map_err(|why| Failure::new(format!("while validating header: {why}")))?;
        match signature.as_str() {
            "" => Err(Failure::new("empty signature returned")),
            _ => Ok(format!("{header}.{claims}.{signature}")),
        }
    }

    /// Whether servers can verify what has such a header. Keys that clients are not told of must sign nothing.
    async fn check(&self, header: &str) -> Result<(), String> {
        let key_id = read_header(header)?;
        if !self.current().is_some_and(|keys| keys.has(&key_id)) {
            self.refresh().await;
        }
        match self.current().is_some_and(|keys| keys.is_retired(&key_id)) {
            true => Err(format!("key used for signing JWT (kid: {key_id}) is excluded from OIDC discovery docs")),
            false => Ok(()),
        }
    }

    async fn call<Q, A>(&self, method: &'static str, message: Q, patience: Duration) -> Result<A, Failure>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let begun = Instant::now();
        let answer = tokio::time::timeout(patience, self.client.call_when_there(method, message)).await;
        let answer = answer.unwrap_or_else(|_| Err(Status::deadline_exceeded("context deadline exceeded")));
        let answer = answer.map_err(|status| Failure::of_call(&status));
        self.metrics.called(method, answer.as_ref().map_or_else(|failure| failure.code, |_| "OK"), begun.elapsed());
        answer
    }
}

/// The id of the key that a header names (upstream: `validateJWTHeader`).
fn read_header(header: &str) -> Result<String, String> {
    let json = URL_SAFE_NO_PAD.decode(header).map_err(|why| format!("while unwrapping header: {why}"))?;
    let header: Header = serde_json::from_slice(&json).map_err(|why| format!("while parsing header JSON: {why}"))?;
    match header {
        Header { typ, .. } if typ != "JWT" => Err("bad type".into()),
        Header { kid, .. } if kid.is_empty() => Err("key id missing".into()),
        Header { kid, .. } if kid.len() > LONGEST_KEY_ID => Err("key id longer than 1 kb".into()),
        Header { alg, .. } if !ALGORITHMS.contains(&&*alg) => Err(format!("bad signing algorithm {alg:?}")),
        Header { kid, .. } => Ok(kid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_checked() {
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
