//! The type of a flag.

/// The section of the help with a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    ThisServer,
    Generic,
    Storage,
    SecureServing,
    Auditing,
    Features,
    Authentication,
    Authorization,
    ApiEnablement,
    EgressSelector,
    Admission,
    Controllers,
    Metrics,
    Logs,
    Traces,
    Misc,
}

/// The values that a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlagType {
    /// `--flag`, `--flag=true`, `--flag=false`.
    Bool,
    /// One value; the last one given applies.
    One,
    /// Values separated by commas; repeated flags add values.
    List,
    /// One value each time the flag is given.
    Repeated,
}

/// A flag.
#[derive(Debug)]
pub(crate) struct Flag {
    pub(crate) section: Section,
    pub(crate) name: &'static str,
    pub(crate) kind: FlagType,
    pub(crate) default: &'static str,
    pub(crate) value: &'static str,
    pub(crate) help: &'static str,
}
