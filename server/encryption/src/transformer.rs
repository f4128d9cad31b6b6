//! The interface of providers: conversion of values between plaintext and stored form.

use async_trait::async_trait;

use crate::failure::Failure;

/// The identity of a value.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    /// The storage key. Authenticating providers include it, so that a value moved to another key is detected.
    pub key: &'a [u8],
    /// Plural and group of its resource: `secrets`, `pandas.example.com`.
    pub resource: &'a str,
}

/// A decrypted value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plain {
    pub value: Vec<u8>,
    /// Whether it should be rewritten, because a write would store it differently now.
    pub stale: bool,
}

impl Plain {
    pub fn current(value: Vec<u8>) -> Self {
        Plain { value, stale: false }
    }
}

/// Encryption and decryption of values (`value.Transformer`).
#[async_trait]
pub(crate) trait Transformer: Send + Sync {
    /// Decrypts a stored value. May call a KMS plugin.
    async fn read(&self, data: &[u8], context: Context<'_>) -> Result<Plain, Failure>;

    /// Encrypts a value for storage.
    fn write(&self, value: &[u8], context: Context<'_>) -> Result<Vec<u8>, Failure>;
}
