//! KindExtensions of Kubernetes' groups: what upstream keeps by group in `pkg/apis` and by resource in `pkg/registry`.
//!
//! A module for each group has its validation, defaults, conversions, columns and strategies as far as definitions in `api-defs/`
//! name them (`by_hand`). The types know the functions by tables, which [`register`] fills: a [`catalog`] has them.

pub mod admissionregistration;
pub mod apiserverinternal;
pub mod apps;
pub mod autoscaling;
pub mod batch;
pub mod certificates;
pub mod coordination;
pub mod core;
pub mod discovery;
pub mod extensions;
pub mod flowcontrol;
pub mod networking;
pub mod node;
pub mod policy;
pub mod rbac;
#[rustfmt::skip]
#[path = "../generated/registration.rs"]
mod registration;
pub mod resource;
pub mod scheduling;
pub mod storage;
pub mod storagemigration;

use machinery::catalog::Catalog;

/// Makes the functions of this crate, and those of [`meta`], known to the types, and where internal types differ from the
/// declarations to messages.
pub fn register() {
    machinery::json::register_internal_types(core::internal::find);
    meta::register();
    registration::register();
}

/// Kubernetes' groups, whose types know the functions of this crate.
///
/// ```
/// assert!(kubernetes::catalog().kind("apps", "v1", "Deployment").is_some());
/// ```
pub fn catalog() -> &'static Catalog {
    register();
    &generated::CATALOG
}
