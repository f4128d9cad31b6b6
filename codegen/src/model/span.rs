//! The position of a declaration.

use std::path::PathBuf;

/// Place of a declaration, for diagnostics and references in generated code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Path relative to the workspace root, such as `api-defs/apps/deployment.rs`.
    pub file: PathBuf,
    /// 1-based line.
    pub line: usize,
    /// 1-based column, counted in characters.
    pub column: usize,
}
