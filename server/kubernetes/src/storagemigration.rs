//! Hand-written functions that definitions of `storagemigration` refer to.

mod columns;
mod validation;

pub use columns::*;
pub use validation::*;

/// Types of a migration's conditions (`storagemigrationv1beta1.MigrationConditionType`).
const RUNNING: &str = "Running";
const SUCCEEDED: &str = "Succeeded";
const FAILED: &str = "Failed";
