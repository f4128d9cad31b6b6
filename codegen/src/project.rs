//! Where a project keeps what the generator reads and writes: this repository, or a package elsewhere that has groups of its own.

use std::path::{Path, PathBuf};

use crate::model::{Group, Package};

/// Folder of the definitions, below the root of a project.
pub const DEFINITIONS: &str = "api-defs";

/// A project with definitions.
#[derive(Clone, Debug)]
pub struct Project {
    /// Holds `api-defs/` and `generated/`.
    pub root: PathBuf,
    /// Holds Kubernetes' definitions, when those of the project are beside them.
    library: Option<PathBuf>,
}

impl Project {
    /// A project that declares everything that it speaks of, as this repository does.
    pub fn whole(root: impl Into<PathBuf>) -> Self {
        Project { root: root.into(), library: None }
    }

    /// A package that declares groups of its own and knows Kubernetes' from here. Its sources are generated into `generated/`, and the
    /// functions that its definitions name stand in `hatches/`.
    pub fn of_ones_own(root: impl Into<PathBuf>) -> Self {
        let library = Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf);
        Project { root: root.into(), library }
    }

    /// Where Kubernetes' definitions and the machinery are.
    pub fn library(&self) -> &Path {
        self.library.as_deref().unwrap_or(&self.root)
    }

    /// Whether Kubernetes' definitions are somewhere else.
    pub fn is_ones_own(&self) -> bool {
        self.library.is_some()
    }

    /// Folders of definitions, below the root or absolute.
    pub fn definitions(&self) -> Vec<PathBuf> {
        std::iter::once(DEFINITIONS.into())
            .chain(self.library.iter().map(|library| library.join(DEFINITIONS)))
            .collect()
    }

    /// Whether a group is declared here: places in the library are absolute.
    pub fn declares(&self, group: &Group) -> bool {
        group.span.file.is_relative()
    }

    /// Folder of the functions that definitions name, below the root.
    pub fn hatches(&self) -> &'static str {
        if self.is_ones_own() { "hatches" } else { "server/controlplane/hatches" }
    }

    /// The same folder, from the sources of a generated package.
    pub(crate) fn hatches_from(&self, package: Package) -> String {
        let up = if self.is_ones_own() || package == Package::Generated { "../../" } else { "../../../" };
        format!("{up}{}", self.hatches())
    }
}
