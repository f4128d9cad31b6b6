//! Errors that prevent the start of the server or stop it.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use options::BoxError;
use rpprof::Error as ProfilerError;
use rustls::server::VerifierBuilderError;
use tokio::task::JoinError;

/// A failure of the server. Failures of single requests are [`machinery::status::Status`] instead.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An option, or a file that an option names, is invalid.
    #[error(transparent)]
    Options(#[from] options::Error),
    /// The configuration of authentication is invalid.
    #[error(transparent)]
    Authentication(#[from] authn::Error),
    /// The configuration of authorization is invalid.
    #[error(transparent)]
    Authorization(#[from] authz::Error),
    /// A certificate or key cannot be generated.
    #[error("making certificates: {0}")]
    Certificate(#[from] rcgen::Error),
    /// A key for service account tokens cannot be generated.
    #[error(transparent)]
    RsaKey(#[from] rsa::Error),
    #[error(transparent)]
    PrivateKeyPem(#[from] rsa::pkcs8::Error),
    #[error(transparent)]
    PublicKeyPem(#[from] rsa::pkcs8::spki::Error),
    /// Every client could set the headers of front proxies.
    #[error(
        "--requestheader-client-ca-file and --client-ca-file contain overlapping certificates; --requestheader-allowed-names must be specified to ensure regular client certificates cannot set authenticating proxy headers for arbitrary users"
    )]
    OverlappingAuthorities,
    /// The certificate authorities of the main API server cannot be read.
    #[error("unable to load configmap based request-header-client-ca-file: {0}")]
    MainServer(#[from] MainServerError),
    /// A pattern of an origin also matches parts of other hosts.
    #[error("--cors-allowed-origins: {pattern:?} is not pinned to the host: begin it with ^ or //, end it with $ or :")]
    UnpinnedOrigin { pattern: String },
    /// A pattern of an origin is malformed.
    #[error("--cors-allowed-origins: {0}")]
    Origin(#[from] regex::Error),
    #[error("authorization mode Node is not supported by this server")]
    NoNodes,
    /// TLS cannot be configured.
    #[error("TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// The address is in use or does not belong to this host.
    #[error("listening on {address}: {source}{}", remedy_of_listen(address, source))]
    Listen { address: String, source: io::Error },
}

/// The remedy for an address that cannot be used; empty for Unix sockets.
fn remedy_of_listen(address: &str, why: &io::Error) -> &'static str {
    match why.kind() {
        _ if address.parse::<SocketAddr>().is_err() => "",
        io::ErrorKind::AddrInUse => "; another server listens there: stop it, or choose another --secure-port",
        io::ErrorKind::AddrNotAvailable => "; --bind-address needs an address of this host",
        io::ErrorKind::PermissionDenied => "; choose a --secure-port above 1023, or run with the right to use it",
        _ => "",
    }
}

impl Error {
    /// Makes the error of a file that cannot be read or written.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let failed = options::Error::file(path);
        move |source| failed(source).into()
    }

    /// Makes the error of a file with invalid content.
    pub(crate) fn content(path: impl Into<PathBuf>, why: impl Into<BoxError>) -> Self {
        options::Error::content(path, why).into()
    }
}

/// The reason why the certificate authorities of the main API server cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MainServerError {
    /// There is no response.
    #[error(transparent)]
    Call(#[from] webhook::Error),
    /// The response is an error; the text is that of client-go.
    #[error("{0}")]
    Refused(String),
    /// The response is not JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// The reason why a client certificate cannot be verified.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VerificationError {
    /// The certificate of an authority is malformed, or the client certificate is invalid.
    #[error(transparent)]
    Tls(#[from] rustls::Error),
    /// There is no authority, or a certificate of one is unusable.
    #[error(transparent)]
    Authorities(#[from] VerifierBuilderError),
}

/// The reason why there is no CPU profile.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProfileError {
    /// As Go, a process runs one profile at a time.
    #[error("cpu profiling already in use")]
    InUse,
    #[error(transparent)]
    Profiler(ProfilerError),
    /// The profile cannot be compressed.
    #[error(transparent)]
    Encoding(#[from] io::Error),
    /// The thread of the profiler panicked.
    #[error(transparent)]
    Thread(#[from] JoinError),
}

impl From<ProfilerError> for ProfileError {
    fn from(error: ProfilerError) -> Self {
        match error {
            ProfilerError::Running => ProfileError::InUse,
            other => ProfileError::Profiler(other),
        }
    }
}
