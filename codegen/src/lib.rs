//! Reads `api-defs/` and renders `generated/`: parse -> model -> check -> emit.

pub mod names;
