//! The selectors of a request for a collection, each parsed once.

use machinery::selector::{FieldSelector, LabelSelector, SelectorError};
use machinery::status::Status;

use super::Query;

/// The field and label selector of a list, watch or deletecollection. Authorization and the handlers both use these.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestSelectors {
    fields: Result<FieldSelector, SelectorError>,
    labels: Result<LabelSelector, SelectorError>,
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

    /// The field selector, or why it cannot be read.
    pub fn fields(&self) -> Result<&FieldSelector, &SelectorError> {
        self.fields.as_ref()
    }

    /// The label selector, or why it cannot be read.
    pub fn labels(&self) -> Result<&LabelSelector, &SelectorError> {
        self.labels.as_ref()
    }

    /// Both selectors.
    ///
    /// # Errors
    /// 400 when one of them cannot be read.
    pub fn both(&self) -> Result<(&FieldSelector, &LabelSelector), Status> {
        let labels = self.labels().map_err(|why| Status::bad_request(why.to_string()))?;
        let fields = self.fields().map_err(|why| Status::bad_request(why.to_string()))?;
        Ok((fields, labels))
    }

    /// The name that every selected object must have; `None` when the selectors cannot be read.
    pub(super) fn required_name(&self) -> Option<&str> {
        self.labels().ok()?;
        self.fields().ok()?.requires_exact_match("metadata.name")
    }
}
