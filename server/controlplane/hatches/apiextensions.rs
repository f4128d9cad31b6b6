//! Hand-written functions that definitions of `apiextensions` name.

#[path = "apiextensions/cleanup.rs"]
mod cleanup;
#[path = "apiextensions/defaults.rs"]
mod defaults;
#[path = "apiextensions/versions.rs"]
mod versions;

pub use cleanup::*;
pub use defaults::*;
pub use versions::*;
