//! Hand-written functions that the definitions of `apiextensions` refer to.

mod cleanup;
mod defaults;
mod versions;

pub use cleanup::*;
pub use defaults::*;
pub use versions::*;
