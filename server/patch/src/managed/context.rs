//! The request that changes an object.

use machinery::status::Status;
use serde_json::Value;

use crate::field_set::Filter;
use crate::schema::SchemaType;

/// Returns the type of a version other than the request's; `None` for an unknown version, whose
/// managers are dropped.
pub type Schemas<'a, 's> = dyn Fn(&str) -> Option<SchemaType<'s>> + 'a;

/// Converts an object to a known version.
pub type Converter<'a> = dyn Fn(&Value, &str) -> Result<Value, Status> + 'a;

/// A request, as far as ownership depends on it; `'s` is the lifetime of custom resources' types.
#[derive(Clone, Copy)]
pub struct FieldManagerContext<'a, 's> {
    /// The field manager, from the `fieldManager` parameter or the user agent; empty counts as `unknown`.
    pub manager: &'a str,
    /// The version of the request and of all documents, such as `apps/v1`.
    pub api_version: &'a str,
    pub kind: &'a str,
    /// The subresource, such as `status`; empty for the object itself.
    pub subresource: &'a str,
    /// The time of the request, RFC 3339 in seconds and UTC.
    pub now: &'a str,
    /// The type of the documents.
    pub schema: SchemaType<'s>,
    /// Fields that this endpoint cannot own, because its strategy resets them.
    pub filter: &'a Filter,
    pub schemas: &'a Schemas<'a, 's>,
    pub convert: &'a Converter<'a>,
    /// Whether fields with the zero values of their types get owners in an object without ownership, as
    /// in custom resources.
    pub zeros_have_owners: bool,
}
