//! Hand-written functions that definitions of `apiextensions` name.

#[path = "apiextensions/defaults.rs"]
mod defaults;
#[path = "apiextensions/versions.rs"]
mod versions;

pub use defaults::*;
pub use versions::*;
