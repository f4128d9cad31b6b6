use crate::meta::{FieldSelectorRequirement, LabelSelectorRequirement};

/// A request to a plain URL path rather than an API resource.
pub struct NonResourceAttributes {
    /// URL path, for example `/healthz` or `/metrics`.
    #[field(1)]
    pub path: String,

    /// Lowercase HTTP method, for example `get` or `post`.
    #[field(2)]
    pub verb: String,
}

/// Describes an action on an API resource for an access check.
pub struct ResourceAttributes {
    /// Namespace of the action; empty means all namespaces or a cluster-scoped resource.
    #[field(1)]
    pub namespace: String,

    /// Action to check, such as `get`, `create` or `*` for any.
    #[field(2)]
    pub verb: String,

    /// API group of the resource; `*` for any, blank for core.
    #[field(3)]
    pub group: String,

    /// API version of the resource; `*` for any.
    #[field(4)]
    pub version: String,

    /// Plural resource type to check, or `*` for any.
    #[field(5)]
    pub resource: String,

    /// Subresource to check, such as `log`; blank for the resource itself.
    #[field(6)]
    pub subresource: String,

    /// Particular object to check; blank covers all objects of the type.
    #[field(7)]
    pub name: String,

    /// Restricts the check to objects chosen by fields, for list and watch style calls.
    #[field(8)]
    pub field_selector: Option<FieldSelectorAttributes>,

    /// Restricts the check to objects chosen by labels, for list and watch style calls.
    #[field(9)]
    pub label_selector: Option<LabelSelectorAttributes>,
}

/// Field selector of a request, offered to authorizers for finer decisions.
pub struct FieldSelectorAttributes {
    /// Selector string as in the URL; mutually exclusive with `requirements`.
    #[field(1)]
    pub raw_selector: String,

    /// Parsed field terms, combined with AND; mutually exclusive with `rawSelector`.
    #[field(2, list = atomic)]
    pub requirements: Vec<FieldSelectorRequirement>,
}

/// Label selector of a request, offered to authorizers for finer decisions.
pub struct LabelSelectorAttributes {
    /// Label query string as in the URL; do not set with `requirements`.
    #[field(1)]
    pub raw_selector: String,

    /// Parsed label terms, combined with AND; do not set with `rawSelector`.
    #[field(2, list = atomic)]
    pub requirements: Vec<LabelSelectorRequirement>,
}

mod v1beta1 {
    use v1::{FieldSelectorAttributes, LabelSelectorAttributes};
}
