//! Errors of calls, with the texts of Go's HTTP client, because API clients see them (`failed
//! calling webhook ...`).

use std::error::Error as StdError;
use std::io;
use std::path::PathBuf;

use http::uri::InvalidUri;
use http::{Method, Uri};
use machinery::json;

/// An error of a call, or of the configuration of a client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The connection failed or broke.
    #[error("{call}: {why}")]
    Failed { call: String, why: String },
    /// There is no address, or it must not be dialled.
    #[error("{call}: {why}")]
    NoAddress { call: String, why: String },
    /// The response did not arrive in time.
    #[error("{call}: context deadline exceeded")]
    Timeout { call: String },
    /// The response exceeds the limit.
    #[error("the answer is longer than {limit} bytes")]
    TooLarge { limit: usize },
    /// The server responds to a review with an error.
    #[error("the server answered with status {code}")]
    Status { code: u16 },
    /// The server responds to a review with a body that is not JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Certificates or keys are unusable.
    #[error("{0}")]
    Configuration(String),
    /// A file cannot be read.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// The configuration of a server is unusable; `place` is its file.
    #[error("{place}: {source}")]
    In { place: String, source: Box<Error> },
    /// A kubeconfig is neither YAML nor JSON.
    #[error(transparent)]
    Yaml(#[from] json::Error),
    /// A kubeconfig does not have the context that it names.
    #[error("the current context is missing")]
    NoContext,
    /// A kubeconfig does not have the cluster that its current context names.
    #[error("the cluster of the current context is missing")]
    NoCluster,
    /// The URL of a server is malformed.
    #[error("server {server:?}: {source}")]
    Server { server: String, source: InvalidUri },
    /// A path on a server is malformed.
    #[error("{address:?}: {source}")]
    Address { address: String, source: InvalidUri },
    /// A certificate or key in a kubeconfig is not base64.
    #[error("{key}-data: {source}")]
    Base64 { key: String, source: base64::DecodeError },
    /// A token has bytes that no header may have.
    #[error("the token cannot stand in a header")]
    Token,
    /// The credentials of a user are unusable.
    #[error("user {name:?}: {source}")]
    User { name: String, source: Box<Error> },
    /// A user has credentials of a kind that this server does not support.
    #[error("{kind:?} is not supported: use a token, a client certificate, or a user name")]
    Unsupported { kind: &'static str },
    /// The program does not run in a pod.
    #[error(
        "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined"
    )]
    NotInCluster,
    /// A Service is unreachable.
    #[error("{0}")]
    Service(String),
}

impl Error {
    /// Returns the reason without the method and URL.
    pub fn cause(&self) -> String {
        match self {
            Error::Failed { why, .. } | Error::NoAddress { why, .. } => why.clone(),
            Error::Timeout { .. } => "context deadline exceeded".into(),
            other => other.to_string(),
        }
    }

    pub(crate) fn failed(method: &Method, uri: &Uri, error: &(dyn StdError + 'static)) -> Self {
        let (call, error) = (call(method, uri), innermost(error));
        let why = match error.downcast_ref::<hyper::Error>() {
            Some(error) if error.is_incomplete_message() => "EOF".into(),
            _ => error.to_string(),
        };
        match error.downcast_ref::<ConnectError>() {
            Some(ConnectError::Lookup(_) | ConnectError::Refused) => Error::NoAddress { call, why },
            _ => Error::Failed { call, why },
        }
    }

    /// Makes the error of a configuration in a file.
    pub(crate) fn within(place: impl std::fmt::Display) -> impl FnOnce(Self) -> Self {
        move |source| Error::In { place: place.to_string(), source: Box::new(source) }
    }

    pub(crate) fn timeout(method: &Method, uri: &Uri) -> Self {
        Error::Timeout { call: call(method, uri) }
    }
}

/// `Post "https://host/path"`
fn call(method: &Method, uri: &Uri) -> String {
    let (first, rest) = method.as_str().split_at(1);
    format!("{first}{} \"{uri}\"", rest.to_ascii_lowercase())
}

/// Returns the root cause of an error.
fn innermost<'a>(error: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error
}

/// An error of a connection attempt.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    /// The host name has no address.
    #[error("dial tcp: lookup {0}: no such host")]
    Lookup(String),
    /// The address may be one of this host.
    #[error("address not allowed")]
    Refused,
    #[error("{0}")]
    Failed(String),
}

impl ConnectError {
    pub(crate) fn dial(address: &str, error: &std::io::Error) -> Self {
        use std::io::ErrorKind::*;
        let why = match error.kind() {
            ConnectionRefused => "connect: connection refused".into(),
            HostUnreachable => "connect: no route to host".into(),
            NetworkUnreachable => "connect: network is unreachable".into(),
            TimedOut => "connect: connection timed out".into(),
            _ => error.to_string(),
        };
        ConnectError::Failed(format!("dial tcp {address}: {why}"))
    }

    pub(crate) fn handshake(error: &std::io::Error) -> Self {
        let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        ConnectError::Failed(tls.map_or_else(|| error.to_string(), handshake))
    }
}

fn handshake(error: &rustls::Error) -> String {
    use rustls::CertificateError::*;
    let rustls::Error::InvalidCertificate(why) = error else { return format!("remote error: tls: {error}") };
    let why = match why {
        UnknownIssuer => "certificate signed by unknown authority".to_owned(),
        Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. } => {
            "certificate has expired or is not yet valid".into()
        }
        NotValidForNameContext { expected, presented } => {
            let names: Vec<&str> =
                presented.iter().map(|name| name.trim_start_matches("DnsName(\"").trim_end_matches("\")")).collect();
            let expected = expected.to_str();
            match names.is_empty() {
                true => format!("certificate is not valid for any names, but wanted to match {expected}"),
                false => format!("certificate is valid for {}, not {expected}", names.join(", ")),
            }
        }
        other => format!("{other:?}"),
    };
    format!("tls: failed to verify certificate: x509: {why}")
}
