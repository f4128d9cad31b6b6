//! A check of a pod.

use super::checked_pod::CheckedPod;
use super::finding::Finding;

/// The implementation of a check in one release.
pub type CheckPodFn = fn(&CheckedPod<'_>) -> Option<Finding>;

/// A check and its implementations, each with the release that introduced it, newest last.
pub struct PodSecurityCheck {
    pub id: &'static str,
    pub versions: &'static [(u32, CheckPodFn)],
    /// The baseline check that this restricted check replaces.
    pub replaces: &'static str,
}

impl PodSecurityCheck {
    pub fn form(&self, minor: u32) -> Option<CheckPodFn> {
        self.versions.iter().rev().find(|(since, _)| *since <= minor).map(|(_, run)| *run)
    }
}
