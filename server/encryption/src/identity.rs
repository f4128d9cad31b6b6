//! Values that are stored without encryption.

use async_trait::async_trait;

use crate::failure::Failure;
use crate::transformer::{Context, Plain, Transformer};

/// The prefix of every encrypted value.
pub(crate) const ENCRYPTED: &[u8] = b"k8s:enc:";

/// The error for an encrypted value where none is expected.
pub(crate) const REFUSAL: &str = "identity transformer tried to read encrypted data";

/// Leaves values unchanged, and refuses encrypted ones.
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
