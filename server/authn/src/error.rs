//! The error of this crate.
//!
//! A rejected credential has its own error, [`AuthenticationError`]: verdicts are cached, so it can be cloned and
//! compared, and authenticators of other crates make it from a text of their own.

use std::path::PathBuf;

use grpc::{Status, code_name, describe};
use http::StatusCode;
use http::uri::InvalidUri;
use machinery::field_error::{FieldError, aggregate};
use machinery::scalar::{Duration, Time};
use options::{Algorithm, DocumentError};
use x509_parser::error::{PEMError, X509Error};
use x509_parser::nom;

use crate::verdict::AuthenticationError;

/// Why a configuration, key or token is unusable. The texts of tokens are upstream's, for the log.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error(transparent)]
    Options(#[from] options::Error),
    /// The authentication configuration is invalid.
    #[error("failed to load authentication configuration from file {path:?}: {source}")]
    ConfigurationFile { path: String, source: Box<Error> },
    /// The authentication configuration is empty.
    #[error("empty config data")]
    EmptyConfiguration,
    /// The authentication configuration cannot be decoded; the text is upstream's.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// A flag and the configuration both determine anonymous access.
    #[error(
        "anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file"
    )]
    AnonymousTwice,
    /// Fields of the authentication configuration are invalid.
    #[error("invalid authentication configuration: {}", aggregate(.0))]
    Fields(Vec<FieldError>),
    /// The client of a webhook or of an issuer cannot be created.
    #[error(transparent)]
    Client(#[from] webhook::Error),
    /// The content of a token file is invalid.
    #[error("{}: {source}", path.display())]
    TokenFile { path: PathBuf, source: Box<Error> },
    /// A line of a token file has unbalanced quotes.
    #[error("line {0}: a quote is not closed, or stands inside a field")]
    Quotes(usize),
    /// A line of a token file has too few columns.
    #[error("line {line}: token file must have at least 3 columns (token, user name, user uid), found {found}")]
    Columns { line: usize, found: usize },

    /// A request has several subprotocols with a token.
    #[error("multiple base64.bearer.authorization tokens specified")]
    SeveralProtocolTokens,
    /// The token in a subprotocol is not in base64url.
    #[error("invalid base64.bearer.authorization token encoding")]
    ProtocolTokenEncoding,
    /// The token in a subprotocol is not UTF-8.
    #[error("invalid base64.bearer.authorization token")]
    ProtocolTokenText,
    /// The only subprotocol is the token, so the server cannot select one.
    #[error("missing additional subprotocol")]
    LoneProtocol,

    /// A certificate or public key is not in DER.
    #[error(transparent)]
    Der(#[from] nom::Err<X509Error>),
    /// A file is not in PEM.
    #[error(transparent)]
    Pem(#[from] PEMError),
    /// The numbers of a public key are malformed.
    #[error(transparent)]
    PublicKey(#[from] X509Error),
    /// A private key is unusable.
    #[error(transparent)]
    PrivateKey(#[from] rustls::Error),
    /// The UID of a certificate is empty.
    #[error("UID cannot be an empty string")]
    EmptyUid,
    /// A certificate has several UIDs.
    #[error("expected 1 UID, but found multiple: {0:?}")]
    SeveralUids(Vec<String>),
    /// A file has no public keys.
    #[error("data does not contain any valid RSA or ECDSA public keys")]
    NoPublicKeys,
    /// A file has no private key.
    #[error("data does not contain a valid RSA or ECDSA private key")]
    NoPrivateKey,
    /// A public key of another type.
    #[error("unsupported key type: use RSA, or ECDSA with the curve P-256 or P-384")]
    KeyType,
    /// A private key whose public key cannot be computed.
    #[error("cannot derive the public key: unsupported key type")]
    NoPublicKey,
    /// A private key that does not support its algorithm.
    #[error("the key cannot sign with its own algorithm")]
    SigningAlgorithm,
    /// A new signature that is not in DER.
    #[error("a signature of an unexpected form")]
    SignatureForm,
    /// The server has no signing key.
    #[error("there is no key")]
    NoSigningKey,
    /// The server has no key with the ID that a token names.
    #[error("invalid signature, no keys found")]
    NoVerifyingKey,
    /// The signature of a token is invalid.
    #[error("square/go-jose: error in cryptographic primitive")]
    Signature,

    /// OpenID Connect requires HTTPS for issuers.
    #[error("issuer URL must use https scheme, got: {0}")]
    IssuerScheme(String),
    /// OpenID Connect does not allow this part in issuers.
    #[error("issuer URL may not include a {part}, got: {issuer}")]
    IssuerPart { part: &'static str, issuer: String },
    /// OpenID Connect requires HTTPS for key sets.
    #[error("jwksURI requires https scheme, parsed as: {0}")]
    KeySetScheme(String),

    /// A token is for other audiences.
    #[error("oidc: verify token: oidc: expected audience {} got {got:?}", expected(.wanted))]
    Audience { wanted: Vec<String>, got: Vec<String> },
    /// A token has expired; `None` without a time.
    #[error("oidc: verify token: oidc: token is expired (Token Expiry: {})", .0.map_or("unknown".into(), |end| end.to_string()))]
    Expired(Option<Time>),
    /// A token is not valid yet.
    #[error("oidc: verify token: oidc: current time before the nbf (not before) time")]
    NotYetValid,
    /// A token has an algorithm that the options do not allow.
    #[error("oidc: verify token: oidc: malformed jwt: unexpected signature algorithm {0:?}")]
    Algorithm(Algorithm),
    /// No key of the issuer has signed a token.
    #[error("oidc: verify token: failed to verify signature: failed to verify id token signature")]
    IssuerSignature,
    /// The discovery document is of another issuer.
    #[error("oidc: issuer did not match the issuer returned by provider, expected {expected:?} got {got}")]
    OtherIssuer { expected: String, got: String },
    /// The URL of a document of the issuer is malformed.
    #[error("oidc: {url:?}: {source}")]
    IssuerUrl { url: String, source: InvalidUri },
    /// The issuer is unreachable.
    #[error("oidc: {0}")]
    Issuer(#[source] webhook::Error),
    /// A document of the issuer is not JSON.
    #[error("oidc: {url}: {source}")]
    IssuerDocument { url: String, source: serde_json::Error },
    /// The issuer responds with a failure.
    #[error("oidc: {url}: {status}")]
    IssuerStatus { url: String, status: StatusCode },

    /// An expression over a token or user fails, or has an unusable result.
    #[error("oidc: error evaluating {of}: {source}")]
    Expression { of: String, source: Box<Error> },
    /// The evaluation of an expression fails.
    #[error(transparent)]
    Evaluation(#[from] cel::Error),
    /// The configuration does not state where the user name is.
    #[error("no claim or expression is configured")]
    NoUsername,
    /// The expression for a user name or UID has another result than a string.
    #[error("{0} claim expression must return a string")]
    NotAString(&'static str),
    /// The expression for groups or an extra field has another result than strings.
    #[error("expression must return a string or a list of strings")]
    NotStrings,
    /// The issuer has not verified the email address.
    #[error("oidc: email not verified")]
    EmailNotVerified,
    /// An expression yields an empty user name.
    #[error("oidc: empty username via CEL expression is not allowed")]
    EmptyUsername,
    /// A claim is unusable; the place is upstream's description with the name of the claim.
    #[error("oidc: parse {place}: {source}")]
    Claim { place: String, source: Box<Error> },
    /// A token lacks a claim.
    #[error("claim not present")]
    NoClaim,
    /// A claim has another type than string.
    #[error("the claim is not a string")]
    ClaimType,
    /// A token lacks a required claim.
    #[error("oidc: required claim {0} not present in ID token")]
    NoRequiredClaim(String),
    /// A required claim has another value.
    #[error("oidc: required claim {name} value does not match. Got = {got}, want = {wanted}")]
    ClaimValue { name: String, got: String, wanted: String },
    /// A validation rule is false.
    #[error("validation expression '{expression}' failed: {message}")]
    Rule { expression: String, message: String },
    /// A validation rule has another result than a bool.
    #[error("validation expression must return a boolean")]
    RuleType,

    /// A call of the external signer fails.
    #[error("{}", describe(.0))]
    Signer(Box<Status>),
    /// An operation of the external signer fails.
    #[error("{doing}: {source}")]
    While { doing: &'static str, source: Box<Error> },
    /// The socket of the external signer cannot be used.
    #[error("while dialing grpc socket at {endpoint:?}: {why}")]
    SignerSocket { endpoint: String, why: String },
    /// The external signer has a maximum token lifetime that is too short, in seconds.
    #[error("max token life supported by external-jwt-signer ({longest}s) is less than acceptable (min {least}s)")]
    TokenLife { longest: i64, least: i64 },
    /// A flag exceeds the maximum token lifetime of the external signer.
    #[error(
        "service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: {flag} > {signer}"
    )]
    MaxExpiration { flag: Duration, signer: Duration },
    /// The external signer returns an unusable time to refresh its keys, in seconds.
    #[error("found invalid refresh hint ({0}s)")]
    RefreshHint(i64),
    /// The external signer has no keys.
    #[error("found no keys")]
    NoKeys,
    /// The ID of a key of the external signer is empty or too long.
    #[error("found invalid public key id {0:?}")]
    KeyId(String),
    /// A key of the external signer is empty.
    #[error("found empty public key")]
    EmptyKey,
    /// The external signer returns no timestamp.
    #[error("invalid nil Timestamp")]
    NoTimestamp,
    /// The seconds of a timestamp are before the first year.
    #[error("timestamp (seconds:{0}) before 0001-01-01")]
    EarlyTimestamp(i64),
    /// The seconds of a timestamp are after the last year.
    #[error("timestamp (seconds:{0}) after 9999-12-31")]
    LateTimestamp(i64),
    /// The nanoseconds of a timestamp exceed a second.
    #[error("timestamp (seconds:{seconds} nanos:{nanos}) has out-of-range nanos")]
    TimestampNanos { seconds: i64, nanos: i32 },
    /// The external signer returns an empty signature.
    #[error("empty signature returned")]
    EmptySignature,
    /// The header of a token is not in base64url.
    #[error(transparent)]
    Base64(#[from] base64::DecodeError),
    /// The header of a token is not JSON, or has unknown fields.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The header of a token has another type than `JWT`.
    #[error("bad type")]
    HeaderType,
    /// The header of a token has no key ID.
    #[error("key id missing")]
    NoKeyId,
    /// The key ID in the header of a token is too long.
    #[error("key id longer than 1 kb")]
    LongKeyId,
    /// The header of a token has an algorithm that the signer may not use.
    #[error("bad signing algorithm {0:?}")]
    HeaderAlgorithm(String),
    /// A token is signed by a key that the discovery documents omit.
    #[error("key used for signing JWT (kid: {0}) is excluded from OIDC discovery docs")]
    ExcludedKey(String),
}

impl Error {
    /// Makes the error of an expression, which upstream describes with these words.
    pub(crate) fn expression(of: impl Into<String>) -> impl Fn(Error) -> Self {
        let of = of.into();
        move |source| Error::Expression { of: of.clone(), source: Box::new(source) }
    }

    /// Makes the error of an operation of the external signer.
    pub(crate) fn doing<E: Into<Error>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Error::While { doing, source: Box::new(source.into()) }
    }

    /// The code of a failure of the external signer in metrics.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Error::Signer(status) => code_name(status.code()),
            Error::While { source, .. } => source.code(),
            _ => "unknown-non-grpc",
        }
    }
}

impl From<Error> for AuthenticationError {
    fn from(error: Error) -> Self {
        AuthenticationError(error.to_string())
    }
}

/// Go's `%q` of one audience, or of several.
fn expected(audiences: &[String]) -> String {
    match audiences {
        [one] => format!("{one:?}"),
        several => format!("in {several:?}"),
    }
}
