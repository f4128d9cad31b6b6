//! Values that are stored without encryption.

use async_trait::async_trait;

use crate::failure::TransformFailure;
use crate::transformer::{DecryptedValue, Transformer, ValueContext};

/// The prefix of every encrypted value.
pub(crate) const ENCRYPTED: &[u8] = b"k8s:enc:";

/// The error for an encrypted value where none is expected.
pub(crate) const REFUSAL: &str = "identity transformer tried to read encrypted data";

/// Leaves values unchanged, and refuses encrypted ones.
pub(crate) struct Identity;

#[async_trait]
impl Transformer for Identity {
    async fn read(&self, data: &[u8], _: ValueContext<'_>) -> Result<DecryptedValue, TransformFailure> {
        match data.starts_with(ENCRYPTED) {
            true => Err(TransformFailure::new(REFUSAL)),
            false => Ok(DecryptedValue::current(data.to_vec())),
        }
    }

    fn write(&self, value: &[u8], _: ValueContext<'_>) -> Result<Vec<u8>, TransformFailure> {
        Ok(value.to_vec())
    }
}
