//! Requests without credentials.

/// Which requests are accepted without credentials (upstream: `anonymous.NewAuthenticator`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Anonymous {
    Disabled,
    Enabled,
    /// Enabled for these paths only.
    Paths(Vec<String>),
}

impl Anonymous {
    pub(crate) fn allows(&self, path: &str) -> bool {
        match self {
            Anonymous::Disabled => false,
            Anonymous::Enabled => true,
            Anonymous::Paths(paths) => paths.iter().any(|p| p == path),
        }
    }
}
