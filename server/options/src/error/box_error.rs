//! The cause of an error.

/// The error of another crate.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
