//! Why a certificate cannot be issued.

/// Why a certificate cannot be issued.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IssuerError {
    /// The certificate of the authority.
    #[error("the certificate of the authority is not one certificate in PEM")]
    Certificate,
    /// The key of the authority.
    #[error("the private key of the authority is not a key in PEM of RSA, ECDSA (P-256, P-384) or Ed25519")]
    Key,
    /// Certificate and key belong to different authorities.
    #[error("the private key of the authority is not that of its certificate")]
    OtherKey,
    /// The requester does not have the private key of the request.
    #[error("unable to verify certificate request signature")]
    Signature,
    /// The alternative names of the request.
    #[error("the alternative names of the certificate request are malformed")]
    Names,
    /// The validity of the certificate cannot be encoded.
    #[error("the validity of the certificate is out of range")]
    Validity,
    /// The key does not sign, or no random number is available.
    #[error("signing failed")]
    Signing,
}
