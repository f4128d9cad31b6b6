//! AES-GCM: a random nonce of 12 bytes, the ciphertext, a tag of 16 bytes. The storage key is the
//! authenticated data.

use aes_gcm::aead::consts::U12;
use aes_gcm::aead::{Aead, Payload};
use aes_gcm::aes::Aes192;
use aes_gcm::{Aes128Gcm, Aes256Gcm, AesGcm, KeyInit, Nonce};
use async_trait::async_trait;

use crate::failure::TransformFailure;
use crate::random;
use crate::transformer::{DecryptedValue, Transformer, ValueContext};

const NONCE: usize = 12;

/// AES-GCM with a key of one of the three sizes. The variants are boxed because expanded keys are large.
pub(crate) enum Gcm {
    Aes128(Box<Aes128Gcm>),
    Aes192(Box<AesGcm<Aes192, U12>>),
    Aes256(Box<Aes256Gcm>),
}

impl Gcm {
    /// Creates a cipher with a key of 16, 24 or 32 bytes.
    pub fn new(key: &[u8]) -> Result<Self, TransformFailure> {
        let wrong = |_| TransformFailure::new(format!("crypto/aes: invalid key size {}", key.len()));
        Ok(match key.len() {
            16 => Gcm::Aes128(Box::new(KeyInit::new_from_slice(key).map_err(wrong)?)),
            24 => Gcm::Aes192(Box::new(KeyInit::new_from_slice(key).map_err(wrong)?)),
            _ => Gcm::Aes256(Box::new(KeyInit::new_from_slice(key).map_err(wrong)?)),
        })
    }

    /// Encrypts a value; returns nonce and ciphertext.
    pub fn seal(&self, value: &[u8], authenticated: &[u8]) -> Result<Vec<u8>, TransformFailure> {
        let nonce = random::bytes::<NONCE>()?;
        let (at, payload) = (Nonce::from_slice(&nonce), Payload { msg: value, aad: authenticated });
        let sealed = match self {
            Gcm::Aes128(aes) => aes.encrypt(at, payload),
            Gcm::Aes192(aes) => aes.encrypt(at, payload),
            Gcm::Aes256(aes) => aes.encrypt(at, payload),
        };
        let sealed = sealed.map_err(|_| TransformFailure::new("crypto/cipher: message too large for GCM"))?;
        Ok([&nonce[..], &sealed].concat())
    }

    /// Decrypts nonce and ciphertext.
    pub fn open(&self, data: &[u8], authenticated: &[u8]) -> Result<Vec<u8>, TransformFailure> {
        let Some((nonce, sealed)) = data.split_at_checked(NONCE) else {
            return Err(TransformFailure::new("the stored data was shorter than the required size"));
        };
        let (at, payload) = (Nonce::from_slice(nonce), Payload { msg: sealed, aad: authenticated });
        let opened = match self {
            Gcm::Aes128(aes) => aes.decrypt(at, payload),
            Gcm::Aes192(aes) => aes.decrypt(at, payload),
            Gcm::Aes256(aes) => aes.decrypt(at, payload),
        };
        opened.map_err(|_| TransformFailure::new("cipher: message authentication failed"))
    }
}

#[async_trait]
impl Transformer for Gcm {
    async fn read(&self, data: &[u8], context: ValueContext<'_>) -> Result<DecryptedValue, TransformFailure> {
        self.open(data, context.key).map(DecryptedValue::current)
    }

    fn write(&self, value: &[u8], context: ValueContext<'_>) -> Result<Vec<u8>, TransformFailure> {
        self.seal(value, context.key)
    }
}
