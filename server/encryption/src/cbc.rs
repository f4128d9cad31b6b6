//! AES-CBC: a random initialization vector of 16 bytes, then the ciphertext of the value with PKCS#7
//! padding. It does not authenticate.

use aes_gcm::aes::{Aes128, Aes192, Aes256};
use async_trait::async_trait;
use cbc::cipher::block_padding::{NoPadding, Pkcs7};
use cbc::cipher::{BlockCipher, BlockDecryptMut, BlockEncryptMut, InvalidLength, KeyInit, KeyIvInit};

use crate::failure::TransformFailure;
use crate::random;
use crate::transformer::{DecryptedValue, Transformer, ValueContext};

const BLOCK: usize = 16;

/// AES-CBC with a key of 16, 24 or 32 bytes.
pub(crate) struct Cbc {
    key: Vec<u8>,
}

impl Cbc {
    pub fn new(key: Vec<u8>) -> Self {
        Cbc { key }
    }

    fn encrypt(&self, vector: &[u8], value: &[u8]) -> Result<Vec<u8>, InvalidLength> {
        fn encrypt<C: BlockCipher + BlockEncryptMut + KeyInit>(
            key: &[u8],
            vector: &[u8],
            value: &[u8],
        ) -> Result<Vec<u8>, InvalidLength> {
            Ok(cbc::Encryptor::<C>::new_from_slices(key, vector)?.encrypt_padded_vec_mut::<Pkcs7>(value))
        }
        match self.key.len() {
            16 => encrypt::<Aes128>(&self.key, vector, value),
            24 => encrypt::<Aes192>(&self.key, vector, value),
            _ => encrypt::<Aes256>(&self.key, vector, value),
        }
    }

    /// Decrypts a value with its padding; `data` is a multiple of the block size.
    fn decrypt(&self, vector: &[u8], data: &[u8]) -> Result<Vec<u8>, InvalidLength> {
        fn decrypt<C: BlockCipher + BlockDecryptMut + KeyInit>(
            key: &[u8],
            vector: &[u8],
            data: &[u8],
        ) -> Result<Vec<u8>, InvalidLength> {
            let decryptor = cbc::Decryptor::<C>::new_from_slices(key, vector)?;
            decryptor.decrypt_padded_vec_mut::<NoPadding>(data).map_err(|_| InvalidLength)
        }
        match self.key.len() {
            16 => decrypt::<Aes128>(&self.key, vector, data),
            24 => decrypt::<Aes192>(&self.key, vector, data),
            _ => decrypt::<Aes256>(&self.key, vector, data),
        }
    }

    fn invalid_key(&self, _: InvalidLength) -> TransformFailure {
        TransformFailure::new(format!("crypto/aes: invalid key size {}", self.key.len()))
    }
}

#[async_trait]
impl Transformer for Cbc {
    async fn read(&self, data: &[u8], _: ValueContext<'_>) -> Result<DecryptedValue, TransformFailure> {
        let Some((vector, data)) = data.split_at_checked(BLOCK) else {
            return Err(TransformFailure::new("the stored data was shorter than the required size"));
        };
        if !data.len().is_multiple_of(BLOCK) {
            return Err(TransformFailure::new("the stored data is not a multiple of the block size"));
        }
        let padded = self.decrypt(vector, data).map_err(|wrong| self.invalid_key(wrong))?;
        without_padding(padded).map(DecryptedValue::current)
    }

    fn write(&self, value: &[u8], _: ValueContext<'_>) -> Result<Vec<u8>, TransformFailure> {
        let vector = random::bytes::<BLOCK>()?;
        let encrypted = self.encrypt(&vector, value).map_err(|wrong| self.invalid_key(wrong))?;
        Ok([&vector[..], &encrypted].concat())
    }
}

fn without_padding(mut padded: Vec<u8>) -> Result<Vec<u8>, TransformFailure> {
    let last = padded.last().copied().unwrap_or(0);
    let size = padded.len().checked_sub(usize::from(last)).filter(|_| last > 0);
    let size = size.ok_or_else(|| TransformFailure::new("invalid PKCS7 data (empty or not padded)"))?;
    if padded[size..].iter().any(|byte| *byte != last) {
        return Err(TransformFailure::new("invalid padding on input"));
    }
    padded.truncate(size);
    Ok(padded)
}
