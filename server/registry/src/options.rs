//! Options of requests (the parts of `metav1.*Options` that the store acts on).

use apimachinery::meta::v1::ObjectMeta;
use machinery::hooks::Propagation;

use crate::error::{Error, Result};

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

/// The required identity of the stored object (`metav1.Preconditions`).
///
/// ```
/// use apimachinery::meta::v1::ObjectMeta;
/// use registry::Precondition;
///
/// let precondition = Precondition { resource_version: Some("7".into()), uid: None };
/// let mut meta = ObjectMeta { resource_version: "7".into(), ..ObjectMeta::default() };
/// assert!(precondition.check(&meta).is_ok());
/// meta.resource_version = "8".into();
/// assert!(precondition.check(&meta).is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Precondition {
    /// The required `metadata.uid`; `None` accepts any.
    pub uid: Option<String>,
    /// The required `metadata.resourceVersion`; `None` accepts any.
    pub resource_version: Option<String>,
}

impl Precondition {
    /// Checks the object of a delete (`rest.BeforeDelete`).
    ///
    /// # Errors
    /// When the object has another UID or another resourceVersion. The text is for a client.
    pub fn check(&self, meta: &ObjectMeta) -> Result<()> {
        let mismatch = |wanted: &Option<String>, found: &String| {
            wanted.as_ref().filter(|wanted| *wanted != found).map(|wanted| (wanted.clone(), found.clone()))
        };
        if let Some((wanted, found)) = mismatch(&self.uid, &meta.uid) {
            return Err(Error::UidMismatch { wanted, found });
        }
        if let Some((wanted, found)) = mismatch(&self.resource_version, &meta.resource_version) {
            return Err(Error::ResourceVersionMismatch { wanted, found });
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
    /// Process the request without storing its result.
    pub dry_run: bool,
    /// Precondition of the delete, checked before admission.
    pub precondition: Precondition,
    /// The treatment of dependents; `None` for the default of the kind.
    pub propagation: Option<Propagation>,
    /// The requested grace period; `None` for the default of the kind.
    ///
    /// Only kinds with graceful deletion use it. A negative number counts as 1.
    pub grace_period_seconds: Option<i64>,
}

/// Options of a list or a watch.
///
/// ```no_run
/// use machinery::status::Status;
/// use registry::{ListQuery, Predicate, ResourceStore};
///
/// /// Counts the objects of all namespaces in pages of 500.
/// async fn count(store: &ResourceStore) -> Result<usize, Status> {
///     let (mut query, mut count) = (ListQuery { limit: 500, ..ListQuery::default() }, 0);
///     loop {
///         let page = store.list("", &Predicate::default(), &query).await?;
///         count += page.entries.len();
///         query.continue_token = page.continue_token;
///         if query.continue_token.is_empty() {
///             return Ok(count);
///         }
///     }
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct ListQuery {
    /// Maximum number of items in a response; 0 for no limit.
    pub limit: usize,
    /// The continue token of the previous page; empty for the first one.
    pub continue_token: String,
    /// The resourceVersion as the client sent it; empty is the latest.
    pub resource_version: String,
    /// The match of the resourceVersion: `Exact` or `NotOlderThan`; empty if not set.
    pub resource_version_match: String,
}
