//! Where an issuer of tokens is, and the keys that it signs with.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use apimachinery::apiserverconfig::v1::Issuer;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;
use webhook::{Client, Trust};

use crate::tokens::{Jws, VerifyingKey};

const DISCOVERY: &str = "/.well-known/openid-configuration";
const TIMEOUT: Duration = Duration::from_secs(30);
/// How many bytes a document of the issuer may have.
const MAX_DOCUMENT: usize = 1 << 20;
/// How often the issuer is asked at most: tokens of strangers must not become requests to it.
const PAUSE: Duration = Duration::from_secs(1);

/// The keys of an issuer, asked for when a token comes that none of the known ones signed.
pub(super) struct Keys {
    issuer: String,
    /// Where the discovery document is.
    discovery: String,
    client: Client,
    known: RwLock<Arc<[VerifyingKey]>>,
    /// When the issuer was last asked.
    asked: Mutex<Option<Instant>>,
}

impl Keys {
    /// The keys of a configured issuer. It is not asked yet.
    pub fn new(issuer: &Issuer) -> Result<Self, String> {
        let authorities = issuer.certificate_authority.clone().into_bytes();
        let client = Client::new(&Trust { authorities, ..Trust::default() }).map_err(|why| why.to_string())?;
        let own = || format!("{}{DISCOVERY}", issuer.url.trim_end_matches('/'));
        let said = issuer.discovery_url.clone().filter(|url| !url.is_empty());
        Ok(Keys {
            issuer: issuer.url.clone(),
            discovery: said.unwrap_or_else(own),
            client,
            known: RwLock::new(Arc::new([])),
            asked: Mutex::default(),
        })
    }

    /// Whether the issuer signed this; asks it for new keys when none that is known did.
    pub async fn verify(&self, jws: &Jws<'_>) -> Result<(), String> {
        if !self.is_signed(jws) {
            self.fetch().await?;
            if !self.is_signed(jws) {
                return Err(
                    "oidc: verify token: failed to verify signature: failed to verify id token signature".into()
                );
            }
        }
        Ok(())
    }

    fn is_signed(&self, jws: &Jws<'_>) -> bool {
        let keys = self.known.read().unwrap_or_else(PoisonError::into_inner).clone();
        keys.iter().filter(|key| jws.key_id.is_empty() || key.id == jws.key_id).any(|key| jws.is_signed_by(key))
    }

    /// Asks the issuer for its keys, unless that has just been done.
    async fn fetch(&self) -> Result<(), String> {
        let mut asked = self.asked.lock().await;
        if asked.is_some_and(|when| when.elapsed() < PAUSE) {
            return Ok(());
        }
        *asked = Some(Instant::now());
        let discovery = self.document(&self.discovery).await?;
        if discovery["issuer"] != self.issuer.as_str() {
            let (wanted, said) = (&self.issuer, &discovery["issuer"]);
            return Err(format!(
                "oidc: issuer did not match the issuer returned by provider, expected {wanted:?} got {said}"
            ));
        }
        let keys = self.document(discovery["jwks_uri"].as_str().unwrap_or_default()).await?;
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = VerifyingKey::from_jwk_set(&keys).into();
        Ok(())
    }

    async fn document(&self, url: &str) -> Result<Value, String> {
        let uri = url.parse().map_err(|why| format!("oidc: {url:?}: {why}"))?;
        let reply = self.client.get(&uri, TIMEOUT, MAX_DOCUMENT).await.map_err(|why| format!("oidc: {why}"))?;
        match reply.status.is_success() {
            true => serde_json::from_slice(&reply.body).map_err(|why| format!("oidc: {url}: {why}")),
            false => Err(format!("oidc: {url}: {}", reply.status)),
        }
    }
}
