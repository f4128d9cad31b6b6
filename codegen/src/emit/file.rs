//! A file of a generated package.

/// A file of a generated package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Path below the package's folder.
    pub path: String,
    /// Content of the file.
    pub bytes: Vec<u8>,
}
