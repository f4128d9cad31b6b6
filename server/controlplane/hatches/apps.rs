//! Hand-written functions that definitions of `apps` name.

#[path = "apps/columns.rs"]
mod columns;
#[path = "apps/defaults.rs"]
mod defaults;
#[path = "apps/normalize.rs"]
pub(crate) mod normalize;
#[path = "apps/strategy.rs"]
mod strategy;
#[path = "apps/validation.rs"]
pub(crate) mod validation;
#[path = "apps/warnings.rs"]
mod warnings;

pub use columns::*;
pub use defaults::*;
pub use normalize::*;
pub use strategy::*;
pub use validation::*;
pub use warnings::*;
