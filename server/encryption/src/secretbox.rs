//! NaCl's secretbox (XSalsa20 and Poly1305): a random nonce of 24 bytes, a tag of 16 bytes, the
//! ciphertext. The storage key is not authenticated.

use async_trait::async_trait;
use crypto_secretbox::aead::Aead;
use crypto_secretbox::{Key, KeyInit, Nonce, XSalsa20Poly1305};

use crate::failure::TransformFailure;
use crate::random;
use crate::transformer::{DecryptedValue, Transformer, ValueContext};

const NONCE: usize = 24;
const TAG: usize = 16;

/// Secretbox with one key.
pub(crate) struct Secretbox(XSalsa20Poly1305);

impl Secretbox {
    pub fn new(key: &[u8; 32]) -> Self {
        Secretbox(XSalsa20Poly1305::new(Key::from_slice(key)))
    }
}

#[async_trait]
impl Transformer for Secretbox {
    async fn read(&self, data: &[u8], _: ValueContext<'_>) -> Result<DecryptedValue, TransformFailure> {
        let Some((nonce, sealed)) = data.split_at_checked(NONCE).filter(|(_, sealed)| sealed.len() >= TAG) else {
            return Err(TransformFailure::new("the stored data was shorter than the required size"));
        };
        // Upstream's error for any failed decryption.
        let wrong = |_| TransformFailure::new("output array was not large enough for encryption");
        self.0.decrypt(Nonce::from_slice(nonce), sealed).map(DecryptedValue::current).map_err(wrong)
    }

    fn write(&self, value: &[u8], _: ValueContext<'_>) -> Result<Vec<u8>, TransformFailure> {
        let nonce = random::bytes::<NONCE>()?;
        let sealed = self.0.encrypt(Nonce::from_slice(&nonce), value);
        let sealed = sealed.map_err(|_| TransformFailure::new("the value is too large for secretbox"))?;
        Ok([&nonce[..], &sealed].concat())
    }
}
