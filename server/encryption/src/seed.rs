//! AES-GCM with a key per value, derived from a seed (KEP-3299: the extended nonce). The stored value
//! has 32 random bytes, which with the seed yield the key (HKDF-Expand with SHA-256), then nonce,
//! ciphertext and tag. The number of values per seed is not limited.

use async_trait::async_trait;
use ring::hkdf::{HKDF_SHA256, KeyType, Prk};

use crate::failure::TransformFailure;
use crate::gcm::Gcm;
use crate::random;
use crate::transformer::{DecryptedValue, Transformer, ValueContext};

/// Length in bytes of a seed, of the random input of a key derivation, and of a key.
pub(crate) const LENGTH: usize = 32;

/// A seed for derived keys.
pub(crate) struct Seed(Prk);

/// The length of a derived key.
struct Derived;

impl KeyType for Derived {
    fn len(&self) -> usize {
        LENGTH
    }
}

impl Seed {
    /// Creates a seed.
    ///
    /// # Errors
    /// When it is shorter than 32 bytes.
    pub fn new(seed: &[u8]) -> Result<Self, TransformFailure> {
        match seed.len() {
            0..LENGTH => {
                Err(TransformFailure::new(format!("invalid seed length {} used for key generation", seed.len())))
            }
            _ => Ok(Seed(Prk::new_less_safe(HKDF_SHA256, seed))),
        }
    }

    fn derive(&self, info: &[u8]) -> Result<Gcm, TransformFailure> {
        let mut key = [0; LENGTH];
        let derived = self.0.expand(&[info], Derived).and_then(|derived| derived.fill(&mut key));
        derived.map_err(|_| TransformFailure::new("failed to KDF expand seed with info"))?;
        Gcm::new(&key)
    }
}

#[async_trait]
impl Transformer for Seed {
    async fn read(&self, data: &[u8], context: ValueContext<'_>) -> Result<DecryptedValue, TransformFailure> {
        let Some((info, sealed)) = data.split_at_checked(LENGTH) else {
            return Err(TransformFailure::new("the stored data was shorter than the required size"));
        };
        self.derive(info)?.open(sealed, context.key).map(DecryptedValue::current)
    }

    fn write(&self, value: &[u8], context: ValueContext<'_>) -> Result<Vec<u8>, TransformFailure> {
        let info = random::bytes::<LENGTH>()?;
        let sealed = self.derive(&info)?.seal(value, context.key)?;
        Ok([&info[..], &sealed].concat())
    }
}
