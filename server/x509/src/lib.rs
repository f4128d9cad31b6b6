//! Certificates and certificate signing requests as far as API objects carry them: PEM blocks, the
//! fields of a certificate, the signature of a request.
//!
//! `x509-parser` parses and ring verifies signatures; this crate exposes the fields that validation
//! uses. An [`Issuer`] issues the requested certificates: `yasna` encodes them, rustls has the key.

mod certificate;
mod error;
mod issuer;
mod key;
mod names;
mod pem;
mod request;

pub use certificate::Certificate;
pub use error::IssuerError;
pub use issuer::{CertificateProfile, Issuer};
pub use key::{KeyKind, PublicKey};
pub use names::AlternativeNames;
pub use pem::{Block, Blocks, blocks};
pub use request::CertificateRequest;

/// Error of malformed input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;
