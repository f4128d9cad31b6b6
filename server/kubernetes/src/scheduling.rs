//! Hand-written functions that definitions of `scheduling` refer to.

mod columns;
mod strategy;
mod system_classes;
mod validation;

pub use columns::*;
pub use strategy::*;
pub use system_classes::{SYSTEM_PRIORITY_CLASSES, SystemPriorityClass};
pub use validation::*;
