//! The kind `@kind@`.

use crate::meta::{Condition, ObjectMeta};

/// An example: replace its description and its fields with your own.
#[kind(plural = "@plural@", scope = Namespaced)]
#[versions(v1)]
#[subresource(status)]
#[column("Size", integer, spec.size)]
#[column("Owner", spec.owner)]
#[column("Age", age)]
pub struct @kind@ {
    /// Standard object metadata.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// The desired state.
    #[field(2)]
    pub spec: @kind@Spec,

    /// The observed state.
    #[field(3)]
    pub status: @kind@Status,
}

/// Fields of the desired state.
pub struct @kind@Spec {
    /// An example of a number with a default and bounds.
    #[field(1, default = 1, min = 0, max = 100)]
    pub size: Option<i32>,

    /// An example of a required text that cannot change.
    #[field(2, required, immutable, format = dns1123_label)]
    pub owner: String,
}

/// Fields of the observed state.
pub struct @kind@Status {
    /// Conditions, one entry per type.
    #[field(1, list = map(type), patch = merge)]
    pub conditions: Vec<Condition>,
}
