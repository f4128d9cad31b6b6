//! JSON web tokens: keys, signatures and the OpenID Connect discovery documents of this server (RFC 7515, 7517, 7519).
//!
//! The crates ring and rustls implement the cryptography; this module implements the base64 and JSON encoding. The
//! algorithm in the header of a token has to be one that the key supports.

mod account_keys;
mod documents;
mod external;
mod jws;
mod keys;
mod token_keys;

pub use account_keys::ServiceAccountKeys;
pub use documents::{Documents, KEY_SET, OpenId};
pub use external::ExternalSigner;
pub use jws::Jws;
pub use keys::{SigningKey, VerifyingKey};
pub use token_keys::TokenKeys;
