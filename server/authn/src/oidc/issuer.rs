//! Discovery and signing keys of a token issuer.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use apimachinery::apiserverconfig::v1::Issuer;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;
use webhook::{Client, Trust};

use crate::Error;
use crate::tokens::{Jws, VerifyingKey};

const DISCOVERY_PATH: &str = "/.well-known/openid-configuration";
const TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum size of a document of the issuer, in bytes.
const MAX_DOCUMENT: usize = 1 << 20;
/// The minimum interval between key fetches, so that invalid tokens do not cause a request each.
const MIN_REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// The keys of an issuer (upstream: go-oidc's `RemoteKeySet`).
///
/// The keys are fetched when no cached key verifies a token.
pub(super) struct RemoteKeySet {
    issuer: String,
    /// The URL of the discovery document.
    discovery_url: String,
    client: Client,
    known: RwLock<Arc<[VerifyingKey]>>,
    /// When the keys were last fetched.
    last_fetch: Mutex<Option<Instant>>,
}

impl RemoteKeySet {
    /// Creates the key set of a configured issuer. Sends no request.
    pub fn new(issuer: &Issuer) -> Result<Self, Error> {
        let authorities = issuer.certificate_authority.clone().into_bytes();
        let client = Client::new(&Trust { authorities, ..Trust::default() })?;
        let default_url = || format!("{}{DISCOVERY_PATH}", issuer.url.trim_end_matches('/'));
        let discovery_url = issuer.discovery_url.clone().filter(|url| !url.is_empty());
        Ok(RemoteKeySet {
            issuer: issuer.url.clone(),
            discovery_url: discovery_url.unwrap_or_else(default_url),
            client,
            known: RwLock::new(Arc::new([])),
            last_fetch: Mutex::default(),
        })
    }

    /// Verifies the signature of a token. Fetches the keys if no cached key verifies it.
    pub async fn verify(&self, jws: &Jws<'_>) -> Result<(), Error> {
        if !self.is_signed(jws) {
            self.fetch().await?;
            if !self.is_signed(jws) {
                return Err(Error::IssuerSignature);
            }
        }
        Ok(())
    }

    fn is_signed(&self, jws: &Jws<'_>) -> bool {
        let keys = self.known.read().unwrap_or_else(PoisonError::into_inner).clone();
        keys.iter().filter(|key| jws.key_id.is_empty() || key.id == jws.key_id).any(|key| jws.is_signed_by(key))
    }

    /// Fetches the keys of the issuer, unless the last fetch was less than `MIN_REFRESH_INTERVAL` ago.
    async fn fetch(&self) -> Result<(), Error> {
        let mut last_fetch = self.last_fetch.lock().await;
        if last_fetch.is_some_and(|when| when.elapsed() < MIN_REFRESH_INTERVAL) {
            return Ok(());
        }
        *last_fetch = Some(Instant::now());
        let discovery = self.document(&self.discovery_url).await?;
        if discovery["issuer"] != self.issuer.as_str() {
            return Err(Error::OtherIssuer { expected: self.issuer.clone(), got: discovery["issuer"].to_string() });
        }
        let keys = self.document(discovery["jwks_uri"].as_str().unwrap_or_default()).await?;
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = VerifyingKey::from_jwk_set(&keys).into();
        Ok(())
    }

    async fn document(&self, url: &str) -> Result<Value, Error> {
        let uri = url.parse().map_err(|source| Error::IssuerUrl { url: url.to_owned(), source })?;
        let reply = self.client.get(&uri, TIMEOUT, MAX_DOCUMENT).await.map_err(Error::Issuer)?;
        if !reply.status.is_success() {
            return Err(Error::IssuerStatus { url: url.to_owned(), status: reply.status });
        }
        serde_json::from_slice(&reply.body).map_err(|source| Error::IssuerDocument { url: url.to_owned(), source })
    }
}
