//! Options of requests (the parts of `metav1.*Options` that the store acts on).

use apimachinery::meta::v1::ObjectMeta;
use machinery::hooks::Propagation;

/// Options of a create.
#[derive(Clone, Debug, Default)]
pub struct CreateOptions {
    /// Process the request without storing its result.
    pub dry_run: bool,
}

/// Options of an update.
#[derive(Clone, Debug, Default)]
pub struct UpdateOptions {
    /// Process the request without storing its result.
    pub dry_run: bool,
    /// Create the object if it does not exist.
    pub create_when_absent: bool,
    /// The subresource that is written; empty for the object itself.
    pub subresource: String,
    /// Precondition of the write, checked first.
    pub precondition: Precondition,
}

/// The required identity of the stored object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Precondition {
    pub uid: Option<String>,
    pub resource_version: Option<String>,
}

impl Precondition {
    /// Checks the object of a delete (`rest.BeforeDelete`).
    ///
    /// # Errors
    /// The mismatch, as text for a client.
    pub fn check(&self, meta: &ObjectMeta) -> Result<(), String> {
        if let Some(uid) = self.uid.as_ref().filter(|uid| **uid != meta.uid) {
            return Err(format!(
                "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been deleted and then recreated",
                meta.uid
            ));
        }
        if let Some(version) = self.resource_version.as_ref().filter(|version| **version != meta.resource_version) {
            return Err(format!(
                "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({}). The object might have been modified",
                meta.resource_version
            ));
        }
        Ok(())
    }

    /// Returns the mismatch in the words of kinds with their own deletion (namespaces).
    pub(crate) fn failed(&self, meta: &ObjectMeta) -> Option<String> {
        let pairs =
            [("UID", &self.uid, &meta.uid), ("ResourceVersion", &self.resource_version, &meta.resource_version)];
        let (what, wanted, is) =
            pairs.into_iter().find_map(|(what, wanted, is)| Some((what, wanted.as_ref().filter(|w| *w != is)?, is)))?;
        Some(format!("Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {is}"))
    }
}

/// Options of a delete.
#[derive(Clone, Debug, Default)]
pub struct DeleteOptions {
    pub dry_run: bool,
    pub precondition: Precondition,
    pub propagation: Option<Propagation>,
    pub grace_period_seconds: Option<i64>,
}

/// Options of a list or a watch.
#[derive(Clone, Debug, Default)]
pub struct ListQuery {
    /// Maximum number of items in a response; 0 for no limit.
    pub limit: usize,
    /// The continue token of the previous page; empty for the first one.
    pub continue_token: String,
    /// As the client sent it; empty is the latest.
    pub resource_version: String,
    /// `Exact` or `NotOlderThan`; empty if not set.
    pub resource_version_match: String,
}
