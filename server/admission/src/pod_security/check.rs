//! A check of a pod.

use super::finding::Finding;
use super::subject::Subject;

/// The implementation of a check in one release.
pub type Run = fn(&Subject<'_>) -> Option<Finding>;

/// A check and its implementations, each with the release that introduced it, newest last.
pub struct Check {
    pub id: &'static str,
    pub versions: &'static [(u32, Run)],
    /// The baseline check that this restricted check replaces.
    pub replaces: &'static str,
}

impl Check {
    pub fn form(&self, minor: u32) -> Option<Run> {
        self.versions.iter().rev().find(|(since, _)| *since <= minor).map(|(_, run)| *run)
    }
}
