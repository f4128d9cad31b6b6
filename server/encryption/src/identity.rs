//! Values as they are: what is stored without encryption.

use async_trait::async_trait;

use crate::failure::Failure;
use crate::transformer::{Context, Plain, Transformer};

/// What every encrypted value begins with.
pub(crate) const ENCRYPTED: &[u8] = b"k8s:enc:";

/// What is said of one where nothing is to be encrypted.
pub(crate) const REFUSAL: &str = "identity transformer tried to read encrypted data";

/// Leaves values alone, and refuses those that are encrypted.
pub(crate) struct Identity;

#[async_trait]
impl Transformer for Identity {
    async fn read(&self, data: &[u8], _: Context<'_>) -> Result<Plain, Failure> {
        match data.starts_with(ENCRYPTED) {
            true => Err(Failure::new(REFUSAL)),
            false => Ok(Plain::current(data.to_vec())),
        }
    }

    fn write(&self, value: &[u8], _: Context<'_>) -> Result<Vec<u8>, Failure> {
        Ok(value.to_vec())
    }
}
