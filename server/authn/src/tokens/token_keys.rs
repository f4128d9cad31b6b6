//! A snapshot of the keys of service account tokens.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::keys::{SigningKey, VerifyingKey};

/// How long clients may cache keys that do not change while the server runs.
const MAX_AGE: Duration = Duration::from_secs(3600);

/// A snapshot of the keys.
#[derive(Debug)]
pub struct TokenKeys {
    /// `None` if an external signer signs.
    pub(super) signing: Option<SigningKey>,
    verifying: Vec<VerifyingKey>,
    /// The IDs of keys that are excluded from the discovery documents; they no longer sign tokens.
    excluded: HashSet<String>,
    /// When the keys have to be refreshed; `None` if they do not change while the server runs.
    pub(super) expires: Option<Instant>,
}

impl TokenKeys {
    /// Creates the keys of this server.
    ///
    /// The signing key also verifies if no verification keys are configured. The same holds if this server generated it
    /// (`is_generated`), so that no key file can contain it.
    pub fn new(signing: SigningKey, mut verifying: Vec<VerifyingKey>, is_generated: bool) -> Self {
        if verifying.is_empty() || (is_generated && !verifying.contains(&signing.public)) {
            verifying.push(signing.public.clone());
        }
        TokenKeys { signing: Some(signing), verifying, excluded: HashSet::new(), expires: None }
    }

    /// Creates the keys of an external signer.
    pub(super) fn of_signer(verifying: Vec<VerifyingKey>, excluded: HashSet<String>, expires: Instant) -> Self {
        TokenKeys { signing: None, verifying, excluded, expires: Some(expires) }
    }

    /// Returns the verification keys with an ID; all keys if the ID is empty.
    pub(super) fn with_id(&self, id: &str) -> impl Iterator<Item = &VerifyingKey> {
        self.verifying.iter().filter(move |key| id.is_empty() || key.id == id)
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.with_id(id).next().is_some()
    }

    pub(super) fn is_excluded(&self, id: &str) -> bool {
        self.excluded.contains(id)
    }

    /// Returns the keys of the discovery documents.
    pub(super) fn published(&self) -> impl Iterator<Item = &VerifyingKey> {
        self.verifying.iter().filter(|key| !self.is_excluded(&key.id))
    }

    /// How long clients may cache the keys.
    pub(super) fn max_age(&self) -> Duration {
        self.expires.map_or(MAX_AGE, |at| at.saturating_duration_since(Instant::now()))
    }
}
