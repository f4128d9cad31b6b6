//! What a provider does to a value: from what the server knows to what the store keeps, and back.

use async_trait::async_trait;

use crate::failure::Failure;

/// Which value it is.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    /// Its key. Providers that authenticate do so with it, so that nobody can move a value to another key unnoticed.
    pub key: &'a [u8],
    /// Plural and group of its resource: `secrets`, `pandas.example.com`.
    pub resource: &'a str,
}

/// A value as the server knows it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plain {
    pub value: Vec<u8>,
    /// It should be written again, because it would be stored differently now.
    pub stale: bool,
}

impl Plain {
    pub fn current(value: Vec<u8>) -> Self {
        Plain { value, stale: false }
    }
}

/// A way of keeping values (`value.Transformer`).
#[async_trait]
pub(crate) trait Transformer: Send + Sync {
    /// A stored value as the server knows it. May ask a KMS plugin.
    async fn read(&self, data: &[u8], context: Context<'_>) -> Result<Plain, Failure>;

    /// A value as it is to be stored.
    fn write(&self, value: &[u8], context: Context<'_>) -> Result<Vec<u8>, Failure>;
}
