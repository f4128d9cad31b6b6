//! Paths that the generator reads and writes: of this repository, or of an external package that
//! declares its own groups.

use std::path::{Path, PathBuf};

use crate::model::{Group, Package};

/// Folder of the definitions, below the root of a project.
pub const DEFINITIONS: &str = "api-defs";

/// A project with definitions.
///
/// ```
/// use codegen::Project;
///
/// let package = Project::external("widgets");
/// assert!(package.is_external() && package.library().is_absolute());
/// assert!(!Project::whole("kube-apiserver").is_external());
/// ```
#[derive(Clone, Debug)]
pub struct Project {
    /// The folder of `api-defs/` and `generated/`.
    pub root: PathBuf,
    /// The folder of Kubernetes' definitions, for a project that does not declare them itself.
    library: Option<PathBuf>,
}

impl Project {
    /// A project that declares all groups that it refers to, as this repository does.
    pub fn whole(root: impl Into<PathBuf>) -> Self {
        Project { root: root.into(), library: None }
    }

    /// A package with its own groups that takes Kubernetes' from this repository.
    ///
    /// The published crate has no repository around it. It contains the definitions (`.ci/publish`).
    ///
    /// Its sources are generated into `generated/`; the functions that its definitions name are in
    /// `hatches/`.
    pub fn external(root: impl Into<PathBuf>) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let published = Some(folder.join("library")).filter(|library| library.is_dir());
        Project { root: root.into(), library: published.or_else(|| folder.parent().map(Path::to_path_buf)) }
    }

    /// The project in a folder: [`Self::whole`] or [`Self::external`].
    ///
    /// It is whole if the folder has the group `meta`, which every group uses.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        let is_whole = root.join(DEFINITIONS).join("meta").is_dir();
        if is_whole { Project::whole(root) } else { Project::external(root) }
    }

    /// The folder of Kubernetes' definitions and of the machinery.
    pub fn library(&self) -> &Path {
        self.library.as_deref().unwrap_or(&self.root)
    }

    /// Whether Kubernetes' definitions are outside of the project.
    pub fn is_external(&self) -> bool {
        self.library.is_some()
    }

    /// Folders of definitions, relative to the root or absolute.
    pub fn definitions(&self) -> Vec<PathBuf> {
        std::iter::once(DEFINITIONS.into())
            .chain(self.library.iter().map(|library| library.join(DEFINITIONS)))
            .collect()
    }

    /// Whether this project declares a group: places in the library are absolute.
    pub fn declares(&self, group: &Group) -> bool {
        group.span.file.is_relative()
    }

    /// Whether a group in the library is part of neither Kubernetes nor this project: another group in
    /// the same checkout.
    pub(crate) fn is_foreign(&self, group: &Group, folder: &Path) -> bool {
        self.is_external() && folder.is_absolute() && group.package == Package::Own
    }

    /// Path of the folder of hand-written functions, relative to the generated sources of the package.
    pub(crate) fn functions_from_sources(&self) -> &'static str {
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
    fn external_project_ignores_custom_groups_of_checkout() {
        let root = std::env::temp_dir().join(format!("codegen-project-{}", std::process::id()));
        let (library, own) = (root.join("checkout"), root.join("own"));
        let group = |words: &str| format!("//! A group.\n\n#![group({words})]\n#![version(v1)]\n");
        define(&library, "apps", &[("group.rs", &group("\"apps\", package = generated"))]);
        // Both declare the group; the declaration in the checkout is invalid.
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
