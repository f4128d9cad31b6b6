//! Why the request of a node is refused.

use machinery::status::Status;

/// The reason of a rejection.
#[derive(Debug)]
pub(super) enum NodeRestrictionDenial {
    /// 403 about the written object, with this reason.
    Forbidden(String),
    /// Another Status.
    Status(Status),
}

impl<T: Into<String>> From<T> for NodeRestrictionDenial {
    fn from(why: T) -> Self {
        NodeRestrictionDenial::Forbidden(why.into())
    }
}
