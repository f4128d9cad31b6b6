//! Reads and checks definitions: the model, what is wrong, and the ledger as it should be.

use std::path::Path;

use crate::diagnostics::Diagnostics;
use crate::ledger::LedgerFile;
use crate::model::Model;
use crate::project::Project;
use crate::{check, ledger, parse};

/// What a look at `api-defs/` found.
pub struct Examined {
    /// As far as the definitions can be understood.
    pub model: Model,
    /// Errors, and warnings.
    pub diagnostics: Diagnostics,
    /// The ledger as it should be after this build.
    pub ledger: Vec<LedgerFile>,
}

/// Reads and checks `api-defs/` below `root`; writes nothing.
pub fn examine(root: &Path) -> Examined {
    examine_project(&Project::whole(root))
}

/// Reads and checks the definitions of a project; writes nothing.
pub fn examine_project(project: &Project) -> Examined {
    let mut diagnostics = Diagnostics::default();
    let (model, origins) = parse::parse(project, &mut diagnostics);
    check::check(project, &model, &origins, &mut diagnostics);
    // What could not be read would look as if it were gone.
    let understood = !diagnostics.has_errors();
    let ledger = if understood { ledger::compare(project, &model, &origins, &mut diagnostics) } else { Vec::new() };
    Examined { model, diagnostics, ledger }
}

/// The model of `api-defs/` below `root`, or everything that is wrong with it.
pub fn load(root: &Path) -> Result<Model, Diagnostics> {
    load_project(&Project::whole(root))
}

/// The model of a project's definitions, or everything that is wrong with them.
pub fn load_project(project: &Project) -> Result<Model, Diagnostics> {
    let Examined { model, diagnostics, .. } = examine_project(project);
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(model) }
}
