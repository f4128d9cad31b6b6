//! Reads `api-defs/` and renders `generated/`: parse -> model -> check -> emit.

mod bounds;
mod check;
pub mod diagnostics;
pub mod emit;
mod examine;
pub mod export;
mod functions;
mod gates;
pub mod import;
pub mod ledger;
pub mod model;
pub mod names;
mod parse;
mod paths;
mod project;
mod refresh;

pub use examine::{Examined, examine, examine_project, load, load_project};
pub use parse::VOCABULARY;
pub use project::Project;
pub use refresh::{build, refresh, refresh_registration};
