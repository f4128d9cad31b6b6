//! JSON web tokens: keys, signatures, and the documents that tell others how to verify what this server signs (RFC 7515, 7517, 7519).
//!
//! The mathematics are ring's and rustls'; what is here are the few lines of base64 and JSON around them. An algorithm is never taken from a
//! token alone: it has to be one that the key is for.

mod account_keys;
mod documents;
mod external;
mod jws;
mod keys;

pub use account_keys::{ServiceAccountKeys, TokenKeys};
pub use documents::{Documents, KEY_SET, OpenId};
pub(crate) use external::ExternalSigner;
pub use jws::Jws;
pub use keys::{Algorithm, SigningKey, VerifyingKey};
