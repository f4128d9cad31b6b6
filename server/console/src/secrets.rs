//! Random secrets, and their digests.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// The digest of a secret. Lookups compare digests, so their duration does not depend on how much
/// of a secret a client has guessed.
pub type Fingerprint = [u8; 32];

/// Returns 256 random bits as text for URLs and cookies.
pub fn random() -> String {
    BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

/// Returns the digest of a secret.
pub fn fingerprint(secret: &str) -> Fingerprint {
    Sha256::digest(secret.as_bytes()).into()
}
