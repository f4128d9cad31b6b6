//! Behaviour of Kubernetes' groups, which upstream has by group in `pkg/apis` and by resource in
//! `pkg/registry`.
//!
//! A module for each group has the validation, defaults, conversions, columns and strategies that
//! definitions in `api-defs/` refer to (`by_hand`). Types call the functions through tables that
//! [`register`] fills. [`catalog`] returns a catalog with registered functions.

pub mod admissionregistration;
pub mod apiserverinternal;
pub mod apps;
pub mod autoscaling;
pub mod batch;
pub mod certificates;
pub mod coordination;
pub mod core;
pub mod discovery;
mod error;
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

pub use error::Error;
use machinery::catalog::Catalog;

/// Registers the functions of this crate and those of [`meta`] with the types, and the differences of
/// internal types with messages.
pub fn register() {
    machinery::json::register_internal_types(core::internal::find);
    meta::register();
    registration::register();
}

/// Kubernetes' groups, with the functions of this crate registered.
///
/// ```
/// assert!(kubernetes::catalog().kind("apps", "v1", "Deployment").is_some());
/// ```
pub fn catalog() -> &'static Catalog {
    register();
    &generated::CATALOG
}
