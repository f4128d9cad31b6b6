//! Reads `api-defs/` and renders `generated/`: parse -> model -> check -> emit.

mod check;
pub mod diagnostics;
pub mod emit;
mod hatches;
pub mod model;
pub mod names;
mod parse;
mod paths;
mod refresh;

pub use refresh::refresh;

use std::path::Path;

use crate::diagnostics::Diagnostics;
use crate::model::Model;

/// The model of `api-defs/` below `root` as far as it can be understood, and everything that there is to say about it.
pub fn examine(root: &Path) -> (Model, Diagnostics) {
    let mut diagnostics = Diagnostics::default();
    let (model, origins) = parse::parse(root, &mut diagnostics);
    check::check(root, &model, &origins, &mut diagnostics);
    (model, diagnostics)
}

/// The model of `api-defs/` below `root`, or everything that is wrong with it.
pub fn load(root: &Path) -> Result<Model, Diagnostics> {
    let (model, diagnostics) = examine(root);
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(model) }
}
