//! Errors of flag values.

use std::io;
use std::net::AddrParseError;
use std::num::ParseIntError;

use http::header::InvalidHeaderName;
use machinery::json;
use machinery::scalar::ScalarError;

use super::BoxError;
use crate::words::{LABEL, METRIC};

/// The reason why the value of a flag is rejected.
#[derive(Debug, thiserror::Error)]
pub enum ValueError {
    #[error("strconv.ParseBool: parsing {text:?}: invalid syntax")]
    Bool { text: String },
    #[error("parsing {text:?}: invalid syntax or out of range")]
    Number { text: String },
    #[error("must not be negative")]
    Negative,
    /// A duration or a quantity is malformed.
    #[error(transparent)]
    Scalar(#[from] ScalarError),
    #[error(transparent)]
    Integer(#[from] ParseIntError),
    #[error(transparent)]
    Address(#[from] AddrParseError),
    #[error(transparent)]
    HeaderName(#[from] InvalidHeaderName),
    #[error("invalid CIDR address: {text}")]
    Cidr { text: String },
    #[error("the port range {text:?} is not one of: 30000-32767, 30000+100, 30000")]
    PortRange { text: String },
    #[error("malformed pair, expect string=string")]
    Pair,
    #[error("contains a ':' but is not a valid URL: {issuer}")]
    Issuer { issuer: String },
    #[error("unsupported {name:?}")]
    Algorithm { name: String },
    #[error("unsupported version {version:?}, write v1 or v1beta1")]
    WebhookVersion { version: String },
    #[error("unknown endpoint reconciler type: {name:?}, write lease or none")]
    EndpointReconciler { name: String },
    #[error("{text:?} is not resource#size")]
    CacheSize { text: String },
    #[error("invalid value {api}={value}, write true or false")]
    RuntimeConfig { api: String, value: String },
    /// A feature gate is unknown or locked, or its value is malformed.
    #[error(transparent)]
    FeatureGates(BoxError),

    /// The flag has one supported value; the text states the reason and the value.
    #[error("{0}")]
    Fixed(&'static str),
    #[error("{version:?} is not served, write kube={only}")]
    NotServed { version: String, only: &'static str },

    #[error("{version} is not supported; write VersionTLS12 or VersionTLS13")]
    OldTls { version: String },
    #[error("unknown tls version {version:?}")]
    UnknownTls { version: String },
    #[error("Cipher suite {name} is weak and not supported; supported are {supported}")]
    WeakCipherSuite { name: String, supported: String },
    #[error("Cipher suite {name} not supported or doesn't exist")]
    CipherSuite { name: String },
    #[error("curve {number} is not supported; supported are 23 (P-256), 24 (P-384) and 29 (X25519)")]
    KeyExchangeGroup { number: String },
    #[error("expected comma separated certificate and key file paths")]
    SniCertificate,

    #[error("{text:?} does not have the pattern=N format")]
    Module { text: String },
    #[error("parsing verbosity in {text:?}: strconv.ParseUint: parsing {level:?}: invalid syntax")]
    ModuleVerbosity { text: String, level: String },
    #[error(transparent)]
    Pattern(#[from] regex::Error),

    #[error("{text} must be formatted as key=value")]
    MetricLabel { text: String },
    #[error(
        "must have keys with format `metricName,labelName` where metricName matches {METRIC:?} and labelName matches {LABEL:?}"
    )]
    MetricLabelKey,
    #[error("failed to read allow list manifest: {0}")]
    Manifest(#[source] io::Error),
    #[error("failed to parse allow list manifest: {0}")]
    ManifestText(#[source] json::Error),
    #[error("failed to parse allow list manifest: not a map")]
    ManifestForm,
    #[error("failed to parse allow list manifest: the value of {key:?} is no text")]
    ManifestValue { key: String },
}
