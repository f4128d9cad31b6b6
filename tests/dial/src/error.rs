//! Errors that end a run.

/// A result of these programs.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("the kubeconfig {0}")]
    Kubeconfig(String),
    #[error("{0}")]
    Tls(#[from] rustls::Error),
    #[error("{0}")]
    Http(#[from] hyper::Error),
    #[error("{0}")]
    Request(#[from] http::Error),
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    #[error("{method} {path} answered {code}: {body}")]
    Answer { method: http::Method, path: String, code: u16, body: String },
    #[error("{0}")]
    Other(String),
}
