//! The cause of an error.

/// The error of another crate.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;
