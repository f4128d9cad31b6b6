//! Signing and verification keys for service account tokens.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::external::ExternalSigner;
use super::jws::Jws;
use super::token_keys::TokenKeys;
use crate::Error;

/// The current [`TokenKeys`], which may still be being generated and may change. Clones share the keys.
#[derive(Clone, Debug)]
pub struct ServiceAccountKeys {
    keys: watch::Receiver<Option<Arc<TokenKeys>>>,
    signer: Option<Arc<ExternalSigner>>,
}

impl ServiceAccountKeys {
    /// Uses the keys of this server. If the sender is dropped without a value, there are no keys.
    pub fn local(keys: watch::Receiver<Option<Arc<TokenKeys>>>) -> Self {
        ServiceAccountKeys { keys, signer: None }
    }

    /// Uses the keys of an external signer.
    pub fn of_signer(signer: Arc<ExternalSigner>) -> Self {
        ServiceAccountKeys { keys: signer.keys(), signer: Some(signer) }
    }

    /// Returns a receiver of the current keys.
    pub fn subscribe(&self) -> watch::Receiver<Option<Arc<TokenKeys>>> {
        self.keys.clone()
    }

    /// Waits for the keys. `None` if there are none, or if their generation failed, which is logged.
    async fn get(&self) -> Option<Arc<TokenKeys>> {
        let mut keys = self.keys.clone();
        keys.wait_for(Option::is_some).await.ok().and_then(|keys| keys.clone())
    }

    /// Signs claims, which have to be a JSON object. Waits for the key if it is still being generated.
    ///
    /// # Errors
    /// When there is no key, or it cannot sign.
    pub async fn sign(&self, claims: &[u8]) -> Result<String, Error> {
        if let Some(signer) = &self.signer {
            return signer.sign(claims).await;
        }
        let keys = self.get().await;
        let key = keys.as_ref().and_then(|keys| keys.signing.as_ref()).ok_or(Error::NoSigningKey)?;
        Jws::sign(key, claims)
    }

    /// Verifies the signature of a token, with the key that its key ID names or, without a key ID, with any key.
    ///
    /// # Errors
    /// When no key matches, or the signature is invalid.
    pub async fn verify(&self, jws: &Jws<'_>) -> Result<(), Error> {
        let mut keys = self.get().await;
        if let Some(signer) = self.signer.as_ref().filter(|_| !keys.as_ref().is_some_and(|keys| keys.has(&jws.key_id)))
        {
            signer.refresh().await;
            keys = self.get().await;
        }
        let mut candidates = keys.iter().flat_map(|keys| keys.with_id(&jws.key_id)).peekable();
        if candidates.peek().is_none() {
            return Err(Error::NoVerifyingKey);
        }
        match candidates.any(|key| jws.algorithm() == key.algorithm() && jws.is_signed_by(key)) {
            true => Ok(()),
            false => Err(Error::Signature),
        }
    }

    /// The maximum lifetime of a token of the external signer.
    pub fn max_token_expiration(&self) -> Option<Duration> {
        self.signer.as_ref().map(|signer| signer.max_token_expiration)
    }
}
