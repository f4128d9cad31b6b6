//! Hand-written functions that definitions of `apiextensions` name.

mod cleanup;
mod defaults;
mod versions;

pub use cleanup::*;
pub use defaults::*;
pub use versions::*;
