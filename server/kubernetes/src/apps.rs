//! Hand-written functions that definitions of `apps` refer to.

mod columns;
mod defaults;
pub(crate) mod normalize;
mod strategy;
pub(crate) mod validation;
mod warnings;

pub use columns::*;
pub use defaults::*;
pub use normalize::*;
pub use strategy::*;
pub use validation::*;
pub use warnings::*;
