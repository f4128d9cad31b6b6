//! Comparison of secrets.

use subtle::ConstantTimeEq;

/// Compares a secret with a presented value in constant time, so that timing does not reveal where they differ.
pub fn is_same_secret(secret: &[u8], presented: &[u8]) -> bool {
    secret.ct_eq(presented).into()
}
