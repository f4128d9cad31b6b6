//! How a version is served.

/// How a version, or a resource in a version, is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Serving {
    /// On by default.
    #[default]
    On,
    /// Off unless `--runtime-config` enables it: `off`.
    Off,
    /// Declared and encodable, but never served: `unserved`.
    Unserved,
}
