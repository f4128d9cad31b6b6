//! Who signs tokens of service accounts, and whose signatures are believed.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::external::ExternalSigner;
use super::{Jws, SigningKey, VerifyingKey};

/// For how long clients may keep keys that do not change while the server runs.
const MAX_AGE: Duration = Duration::from_secs(3600);

/// The keys at one moment.
#[derive(Debug)]
pub struct TokenKeys {
    /// None where another program signs.
    signing: Option<SigningKey>,
    verifying: Vec<VerifyingKey>,
    /// The ids of keys that clients are not told of: they sign nothing any more.
    retired: HashSet<String>,
    /// When there may be others; none: not while the server runs.
    pub(super) expires: Option<Instant>,
}

impl TokenKeys {
    /// A key of this server, which also verifies when no file says what does, or when nobody but this server can know it (`own`).
    pub(crate) fn new(signing: SigningKey, mut verifying: Vec<VerifyingKey>, own: bool) -> Self {
        if verifying.is_empty() || (own && !verifying.contains(&signing.public)) {
            verifying.push(signing.public.clone());
        }
        TokenKeys { signing: Some(signing), verifying, retired: HashSet::new(), expires: None }
    }

    /// The keys of another program.
    pub(super) fn of_signer(verifying: Vec<VerifyingKey>, retired: HashSet<String>, expires: Instant) -> Self {
        TokenKeys { signing: None, verifying, retired, expires: Some(expires) }
    }

    /// Those of an id; all of them when it is empty.
    fn with_id(&self, id: &str) -> impl Iterator<Item = &VerifyingKey> {
        self.verifying.iter().filter(move |key| id.is_empty() || key.id == id)
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.with_id(id).next().is_some()
    }

    pub(super) fn is_retired(&self, id: &str) -> bool {
        self.retired.contains(id)
    }

    /// Those that clients are told of.
    pub(super) fn published(&self) -> impl Iterator<Item = &VerifyingKey> {
        self.verifying.iter().filter(|key| !self.is_retired(&key.id))
    }

    /// For how long clients may keep them.
    pub(super) fn max_age(&self) -> Duration {
        self.expires.map_or(MAX_AGE, |at| at.saturating_duration_since(Instant::now()))
    }
}

/// [`TokenKeys`] that may still be in the making, or be others tomorrow. Clones share them.
#[derive(Clone, Debug)]
pub struct ServiceAccountKeys {
    keys: watch::Receiver<Option<Arc<TokenKeys>>>,
    signer: Option<Arc<ExternalSigner>>,
}

impl ServiceAccountKeys {
    /// Keys of this server. Without a sender there will be none.
    pub(crate) fn own(keys: watch::Receiver<Option<Arc<TokenKeys>>>) -> Self {
        ServiceAccountKeys { keys, signer: None }
    }

    /// Keys of another program.
    pub(crate) fn of_signer(signer: Arc<ExternalSigner>) -> Self {
        ServiceAccountKeys { keys: signer.keys(), signer: Some(signer) }
    }

    /// The keys at each moment.
    pub(crate) fn follow(&self) -> watch::Receiver<Option<Arc<TokenKeys>>> {
        self.keys.clone()
    }

    /// The keys, once they are there. `None` when there are none, or they could not be made; the log says why.
    async fn get(&self) -> Option<Arc<TokenKeys>> {
        let mut keys = self.keys.clone();
        keys.wait_for(Option::is_some).await.ok().and_then(|keys| keys.clone())
    }

    /// Makes claims, a JSON object, a token. A key of our own may still have to be made.
    pub async fn sign(&self, claims: &[u8]) -> Result<String, String> {
        if let Some(signer) = &self.signer {
            return signer.sign(claims).await;
        }
        let keys = self.get().await;
        let key = keys.as_ref().and_then(|keys| keys.signing.as_ref()).ok_or("there is no key")?;
        Jws::sign(key, claims)
    }

    /// Whether one of the keys signed a token, of those with the id that it names if it names one.
    pub async fn verify(&self, jws: &Jws<'_>) -> Result<(), String> {
        let mut keys = self.get().await;
        if let Some(signer) = self.signer.as_ref().filter(|_| !keys.as_ref().is_some_and(|keys| keys.has(&jws.key_id)))
        {
            signer.refresh().await;
            keys = self.get().await;
        }
        let mut candidates = keys.iter().flat_map(|keys| keys.with_id(&jws.key_id)).peekable();
        if candidates.peek().is_none() {
            return Err("invalid signature, no keys found".into());
        }
        match candidates.any(|key| jws.algorithm() == key.algorithm() && jws.is_signed_by(key)) {
            true => Ok(()),
            false => Err("square/go-jose: error in cryptographic primitive".into()),
        }
    }

    /// The longest life of a token that another program signs.
    pub fn longest_life(&self) -> Option<Duration> {
        self.signer.as_ref().map(|signer| signer.longest_life)
    }
}
