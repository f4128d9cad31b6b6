//! The selectors of a collection request, each parsed once.

use machinery::selector::Error;
use machinery::selector::{FieldSelector, LabelSelector};
use machinery::status::Status;

use super::Query;

/// The field and label selector of a list, watch or deletecollection. Authorization and the
/// handlers both use these.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestSelectors {
    fields: Result<FieldSelector, Error>,
    labels: Result<LabelSelector, Error>,
}

impl Default for RequestSelectors {
    fn default() -> Self {
        RequestSelectors { fields: Ok(FieldSelector::everything()), labels: Ok(LabelSelector::everything()) }
    }
}

impl RequestSelectors {
    pub(super) fn parse(query: &Query) -> Self {
        let mut selectors = RequestSelectors::default();
        if let Some(text) = query.get("fieldSelector") {
            selectors.fields = FieldSelector::parse(text);
        }
        if let Some(text) = query.get("labelSelector") {
            selectors.labels = LabelSelector::parse(text);
        }
        selectors
    }

    /// The field selector, or its parse error.
    pub fn fields(&self) -> Result<&FieldSelector, &Error> {
        self.fields.as_ref()
    }

    /// The label selector, or its parse error.
    pub fn labels(&self) -> Result<&LabelSelector, &Error> {
        self.labels.as_ref()
    }

    /// Both selectors.
    ///
    /// # Errors
    /// 400 when a selector is invalid.
    pub fn both(&self) -> Result<(&FieldSelector, &LabelSelector), Status> {
        let labels = self.labels().map_err(|why| Status::bad_request(why.to_string()))?;
        let fields = self.fields().map_err(|why| Status::bad_request(why.to_string()))?;
        Ok((fields, labels))
    }

    /// The name that every selected object must have; `None` when a selector is invalid.
    pub(super) fn required_name(&self) -> Option<&str> {
        self.labels().ok()?;
        self.fields().ok()?.requires_exact_match("metadata.name")
    }
}
