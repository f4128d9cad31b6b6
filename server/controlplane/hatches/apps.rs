//! Hand-written functions that definitions of `apps` name.

#[path = "apps/columns.rs"]
mod columns;
#[path = "apps/defaults.rs"]
mod defaults;
#[path = "apps/normalize.rs"]
pub(crate) mod normalize;
#[path = "apps/strategy.rs"]
mod strategy;

pub use columns::*;
pub use defaults::*;
pub use normalize::*;
pub use strategy::*;
