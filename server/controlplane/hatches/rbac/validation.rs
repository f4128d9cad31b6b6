//! What upstream checks by hand in roles and bindings (`pkg/apis/rbac/validation`).

#[path = "validation/bindings.rs"]
mod bindings;
#[path = "validation/roles.rs"]
mod roles;

pub use bindings::*;
pub use roles::*;
