//! The checkout of kube-apiserver that a new crate is built from.

use std::fs;
use std::path::{Path, PathBuf};

/// Files that a folder has to have.
const PARTS: [&str; 5] = [
    "Cargo.lock",
    "api-defs/meta/group.rs",
    "codegen/Cargo.toml",
    "generated/Cargo.toml",
    "server/apiserver/Cargo.toml",
];

/// The folder of a checkout.
#[derive(Debug)]
pub struct Checkout {
    /// From the root.
    pub path: PathBuf,
}

impl Checkout {
    /// The checkout in this folder.
    pub fn at(path: &Path) -> Result<Self, String> {
        let found = path.canonicalize().map_err(|why| format!("--path {}: {why}", path.display()))?;
        match missing(&found) {
            None => Checkout::new(found),
            Some(part) => {
                Err(format!("--path {}: no checkout of kube-apiserver, because it has no {part}", path.display()))
            }
        }
    }

    fn new(path: PathBuf) -> Result<Self, String> {
        let is_plain = path.to_str().is_some_and(|text| !text.contains(['"', '\\', '\n']));
        is_plain
            .then(|| Checkout { path: path.clone() })
            .ok_or_else(|| format!("{}: the path of the checkout cannot be written into Cargo.toml", path.display()))
    }

    /// The checkout that holds the current folder, or else the running program.
    pub fn nearby() -> Result<Self, String> {
        let places = [std::env::current_dir(), std::env::current_exe()];
        let places = places.into_iter().flatten().filter_map(|place| place.canonicalize().ok());
        let mut found =
            places.filter_map(|place| place.ancestors().find(|up| missing(up).is_none()).map(Path::to_path_buf));
        let why = "neither this folder nor this program is in a checkout of kube-apiserver; name one: --path CHECKOUT";
        found.next().map(Checkout::new).unwrap_or_else(|| Err(why.to_owned()))
    }

    /// Whether a group of Kubernetes has this folder in `api-defs/`, and so this module.
    pub fn has_module(&self, module: &str) -> bool {
        self.path.join("api-defs").join(module).is_dir()
    }

    /// What `Cargo.lock` holds.
    pub fn lock(&self) -> Result<Vec<u8>, String> {
        let path = self.path.join("Cargo.lock");
        fs::read(&path).map_err(|why| format!("cannot read {}: {why}", path.display()))
    }

    /// The path of the checkout as files in `folder` write it: relative if both are below one
    /// folder that is not the root.
    pub fn seen_from(&self, folder: &Path) -> String {
        let common = self.path.components().zip(folder.components()).take_while(|(one, other)| one == other).count();
        if common < 2 {
            return self.path.display().to_string();
        }
        let up = folder.components().skip(common).map(|_| "..".into());
        let down = self.path.components().skip(common).map(|part| part.as_os_str().to_string_lossy());
        let parts: Vec<_> = up.chain(down).collect();
        if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
    }
}

/// The first part of a checkout that a folder does not have.
fn missing(folder: &Path) -> Option<&'static str> {
    PARTS.into_iter().find(|part| !folder.join(part).is_file())
}
