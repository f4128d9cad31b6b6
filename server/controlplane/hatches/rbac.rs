//! Hand-written functions that definitions of `rbac` name.

#[path = "rbac/columns.rs"]
mod columns;

pub use columns::*;

pub fn default_subject(_: &mut crate::rbac::v1::Subject) {}

pub fn default_v1alpha1_subject(_: &mut crate::rbac::v1alpha1::Subject) {}

pub fn v1alpha1_subject_from_hub(_: &mut crate::rbac::v1::Subject, _: &mut crate::rbac::v1alpha1::Subject) {}

pub fn v1alpha1_subject_to_hub(_: &mut crate::rbac::v1alpha1::Subject, _: &mut crate::rbac::v1::Subject) {}
