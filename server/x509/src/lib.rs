//! Certificates and certificate signing requests as far as API objects carry them: PEM blocks, the
//! fields of a certificate, the signature of a request.
//!
//! `x509-parser` parses and ring verifies signatures; this crate exposes the fields that validation
//! uses.

mod certificate;
mod key;
mod pem;
mod request;

pub use certificate::Certificate;
pub use key::{KeyKind, PublicKey};
pub use pem::{Block, Blocks, blocks};
pub use request::CertificateRequest;

/// Error of malformed input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;
