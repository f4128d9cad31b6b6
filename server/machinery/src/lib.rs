//! The vocabulary that generated code speaks.

pub mod scalar;
