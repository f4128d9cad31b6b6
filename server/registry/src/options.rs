//! What a caller may ask for besides the object (the parts of `metav1.*Options` that the store acts on).

/// Options of a create.
#[derive(Clone, Debug, Default)]
pub struct CreateOptions {
    /// Go through everything but store nothing.
    pub dry_run: bool,
    /// Delete it by itself after so many seconds; 0 never (events).
    pub ttl_seconds: u64,
}

/// Options of an update.
#[derive(Clone, Debug, Default)]
pub struct UpdateOptions {
    /// Go through everything but store nothing.
    pub dry_run: bool,
    /// What is not there is created.
    pub create_when_absent: bool,
    /// The subresource that is written; empty for the object.
    pub subresource: String,
    pub ttl_seconds: u64,
    /// What must hold of the stored object before anything else is looked at.
    pub precondition: Precondition,
}

/// What must hold for a write to happen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Precondition {
    pub uid: Option<String>,
    pub resource_version: Option<String>,
}

/// What happens to dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    Orphan,
    Background,
    Foreground,
}

/// Options of a delete.
#[derive(Clone, Debug, Default)]
pub struct DeleteOptions {
    pub dry_run: bool,
    pub precondition: Precondition,
    pub propagation: Option<Propagation>,
    pub grace_period_seconds: Option<i64>,
}

/// What to list.
#[derive(Clone, Debug, Default)]
pub struct ListQuery {
    /// Most items of one answer; 0 is no limit.
    pub limit: usize,
    /// A token of an earlier answer; empty to begin.
    pub continue_token: String,
    /// As the caller wrote it; empty is the latest.
    pub resource_version: String,
    /// `Exact` or `NotOlderThan`; empty when not said.
    pub resource_version_match: String,
}
