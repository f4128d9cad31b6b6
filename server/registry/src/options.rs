//! What a caller may ask for besides the object (the parts of `metav1.*Options` that the store acts on).

use apimachinery::meta::v1::ObjectMeta;
use machinery::hooks::Propagation;

/// Options of a create.
#[derive(Clone, Debug, Default)]
pub struct CreateOptions {
    /// Go through everything but store nothing.
    pub dry_run: bool,
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
    /// What must hold of the stored object before anything else is looked at.
    pub precondition: Precondition,
}

/// What must hold for a write to happen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Precondition {
    pub uid: Option<String>,
    pub resource_version: Option<String>,
}

impl Precondition {
    /// Whether an object that is to be deleted is the one that is meant (`rest.BeforeDelete`).
    ///
    /// # Errors
    /// In which way it is not, as text for a client.
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

    /// In which way an object is not the one that is meant, as kinds say that begin their deletion in a way of their
    /// own (namespaces).
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
