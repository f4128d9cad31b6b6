//! What upstream checks by hand in roles and bindings (`pkg/apis/rbac/validation`).

mod bindings;
mod roles;

pub use bindings::*;
pub use roles::*;
