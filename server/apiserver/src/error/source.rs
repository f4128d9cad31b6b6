//! The cause of an error.

/// The error of another crate.
pub(crate) type Source = Box<dyn std::error::Error + Send + Sync>;
