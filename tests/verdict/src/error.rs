//! Errors that end a run.

/// A result of these programs.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Dial(#[from] differential::error::Error),
    #[error("{0}")]
    Store(#[from] storage::Error),
    #[error("{0}")]
    Definitions(#[from] codegen::Error),
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("{0}")]
    Other(String),
}
