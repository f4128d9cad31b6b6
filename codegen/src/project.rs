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
    pub fn external(root: impl Into<PathBuf>) -> Self {
        let library = Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf);
        Project { root: root.into(), library }
    }

    /// The project in a folder: one that declares everything if `meta`, which every group uses, is
    /// in it.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        let is_whole = root.join(DEFINITIONS).join("meta").is_dir();
        if is_whole { Project::whole(root) } else { Project::external(root) }
    }

    /// Where Kubernetes' definitions and the machinery are.
    pub fn library(&self) -> &Path {
        self.library.as_deref().unwrap_or(&self.root)
    }

    /// Whether Kubernetes' definitions are somewhere else.
    pub fn is_external(&self) -> bool {
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

    /// Whether a group of the library is that of another project: what stands beside Kubernetes'
    /// groups in the checkout.
    pub(crate) fn is_foreign(&self, group: &Group, folder: &Path) -> bool {
        self.is_external() && folder.is_absolute() && group.package == Package::Own
    }

    /// Folder of the functions that an author's definitions name, from the sources of the package of these groups.
    pub(crate) fn hatches_from_sources(&self) -> &'static str {
        if self.is_external() { "../../hatches" } else { "../../../hatches" }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Writes a folder of definitions.
    fn define(root: &Path, folder: &str, files: &[(&str, &str)]) {
        let folder = root.join(DEFINITIONS).join(folder);
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in files {
            fs::write(folder.join(name), text).unwrap();
        }
    }

    #[test]
    fn groups_that_stand_in_the_checkout_do_not_belong_to_other_projects() {
        let root = std::env::temp_dir().join(format!("codegen-project-{}", std::process::id()));
        let (library, own) = (root.join("checkout"), root.join("own"));
        let group = |words: &str| format!("//! A group.\n\n#![group({words})]\n#![version(v1)]\n");
        define(&library, "apps", &[("group.rs", &group("\"apps\", package = generated"))]);
        // Both declare the group, and the checkout wrongly.
        let product = "/// Sold.\npub struct Product {\n    /// For it.\n    #[field(1)]\n    pub price: Nothing,\n}\n";
        define(&library, "shop.example.com", &[("group.rs", &group("\"shop.example.com\"")), ("product.rs", product)]);
        define(&own, "shop.example.com", &[("group.rs", &group("\"shop.example.com\""))]);
        let examined = crate::examine_project(&Project { root: own, library: Some(library.clone()) });
        assert!(!examined.diagnostics.has_errors(), "{}", examined.diagnostics);
        let names: Vec<&str> = examined.model.groups.iter().map(|group| group.name.as_str()).collect();
        assert_eq!(names, ["apps", "shop.example.com"]);
        let whole = crate::examine_project(&Project::whole(library));
        assert!(whole.diagnostics.has_errors(), "the checkout itself has the group");
        fs::remove_dir_all(root).unwrap();
    }
}
