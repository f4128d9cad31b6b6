//! The interface of providers: conversion of values between plaintext and stored form.

use async_trait::async_trait;

use crate::failure::TransformFailure;

/// The identity of a value.
#[derive(Clone, Copy)]
pub(crate) struct ValueContext<'a> {
    /// The storage key. Authenticating providers include it, so that a value moved to another key is detected.
    pub key: &'a [u8],
    /// Plural and group of its resource: `secrets`, `pandas.example.com`.
    pub resource: &'a str,
}

/// A decrypted value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DecryptedValue {
    pub value: Vec<u8>,
    /// Whether it should be rewritten, because a write would store it differently now.
    pub stale: bool,
}

impl DecryptedValue {
    pub fn current(value: Vec<u8>) -> Self {
        DecryptedValue { value, stale: false }
    }
}

/// Encryption and decryption of values (`value.Transformer`).
#[async_trait]
pub(crate) trait Transformer: Send + Sync {
    /// Decrypts a stored value. May call a KMS plugin.
    async fn read(&self, data: &[u8], context: ValueContext<'_>) -> Result<DecryptedValue, TransformFailure>;

    /// Encrypts a value for storage.
    fn write(&self, value: &[u8], context: ValueContext<'_>) -> Result<Vec<u8>, TransformFailure>;
}
