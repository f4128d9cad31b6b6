//! The vocabulary that generated code speaks.
