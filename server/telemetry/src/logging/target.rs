//! Targets of lines with a verbosity of their own.

/// The target of lines about requests.
pub const HTTP: &str = "http";
