//! Certificates and requests for them, as far as objects carry them: PEM blocks, what a certificate says, whether a request was signed with
//! its own key.
//!
//! Parsing is `x509-parser`'s and signatures are ring's; this crate says what validation asks, in its own terms.

mod certificate;
mod key;
mod pem;
mod request;

pub use certificate::Certificate;
pub use key::{KeyKind, PublicKey};
pub use pem::{Block, Blocks, blocks};
pub use request::CertificateRequest;

/// Bytes that are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;
