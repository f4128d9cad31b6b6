//! The kube-apiserver checkout that a new crate depends on.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::NewError;

/// Files that identify a checkout.
const PARTS: [&str; 5] = [
    "Cargo.lock",
    "api-defs/meta/group.rs",
    "codegen/Cargo.toml",
    "generated/Cargo.toml",
    "server/apiserver/Cargo.toml",
];

/// A checkout.
#[derive(Debug)]
pub struct Checkout {
    /// The absolute path.
    pub path: PathBuf,
}

impl Checkout {
    /// Opens the checkout in this folder.
    pub fn at(path: &Path) -> Result<Self, NewError> {
        let found = path.canonicalize();
        let found = found.map_err(|source| NewError::NoFolder { path: path.to_owned(), source })?;
        match missing(&found) {
            None => Checkout::new(found),
            Some(part) => Err(NewError::NoCheckout { path: path.to_owned(), part }),
        }
    }

    fn new(path: PathBuf) -> Result<Self, NewError> {
        let is_plain = path.to_str().is_some_and(|text| !text.contains(['"', '\\', '\n']));
        if is_plain { Ok(Checkout { path }) } else { Err(NewError::CheckoutPath { path }) }
    }

    /// Finds the checkout that contains the current directory, or else the running program.
    pub fn find() -> Result<Self, NewError> {
        let places = [std::env::current_dir(), std::env::current_exe()];
        let places = places.into_iter().flatten().filter_map(|place| place.canonicalize().ok());
        let mut found =
            places.filter_map(|place| place.ancestors().find(|up| missing(up).is_none()).map(Path::to_path_buf));
        found.next().map_or(Err(NewError::Outside), Checkout::new)
    }

    /// Whether `api-defs/` has a folder for this module, which is then a group of Kubernetes.
    pub fn has_module(&self, module: &str) -> bool {
        self.path.join("api-defs").join(module).is_dir()
    }

    /// Reads `Cargo.lock`.
    pub fn lock(&self) -> Result<Vec<u8>, NewError> {
        let path = self.path.join("Cargo.lock");
        fs::read(&path).map_err(|source| NewError::Read { path, source })
    }

    /// Returns the path of the checkout for use in files of `folder`. It is relative if both share
    /// a parent other than the root.
    pub fn relative_to(&self, folder: &Path) -> String {
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

/// Returns the first file of `PARTS` that a folder does not have.
fn missing(folder: &Path) -> Option<&'static str> {
    PARTS.into_iter().find(|part| !folder.join(part).is_file())
}
