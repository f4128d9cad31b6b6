//! Reads and checks definitions; returns the model, the diagnostics and the updated ledger.

use std::path::Path;

use crate::diagnostics::Diagnostics;
use crate::ledger::LedgerFile;
use crate::model::Model;
use crate::project::Project;
use crate::{check, ledger, parse};

/// Result of reading and checking `api-defs/`.
pub struct Examined {
    /// The model, incomplete if the definitions have errors.
    pub model: Model,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
    /// The ledger as it has to be after this build.
    pub ledger: Vec<LedgerFile>,
}

/// Reads and checks `api-defs/` below `root`; writes nothing.
pub fn examine(root: &Path) -> Examined {
    examine_project(&Project::whole(root))
}

/// Reads and checks the definitions of a project; writes nothing.
///
/// ```
/// use codegen::{Project, examine_project};
///
/// # let root = std::env::temp_dir().join(format!("codegen-examine-{}", std::process::id()));
/// # std::fs::create_dir_all(&root)?;
/// let examined = examine_project(&Project::whole(&root)); // a folder without `api-defs/`
/// assert!(examined.model.groups.is_empty() && examined.ledger.is_empty());
/// eprint!("{}", examined.diagnostics);
/// # std::fs::remove_dir_all(&root)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn examine_project(project: &Project) -> Examined {
    let mut diagnostics = Diagnostics::default();
    let (model, origins) = parse::parse(project, &mut diagnostics);
    check::check(project, &model, &origins, &mut diagnostics);
    // Declarations that could not be parsed would be reported as removed.
    let understood = !diagnostics.has_errors();
    let ledger = if understood { ledger::compare(project, &model, &origins, &mut diagnostics) } else { Vec::new() };
    Examined { model, diagnostics, ledger }
}

/// The model of `api-defs/` below `root`.
///
/// # Errors
/// All diagnostics, warnings included, if the definitions have errors.
pub fn load(root: &Path) -> Result<Model, Diagnostics> {
    load_project(&Project::whole(root))
}

/// The model of a project's definitions.
///
/// # Errors
/// All diagnostics, warnings included, if the definitions have errors.
pub fn load_project(project: &Project) -> Result<Model, Diagnostics> {
    let Examined { model, diagnostics, .. } = examine_project(project);
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(model) }
}
