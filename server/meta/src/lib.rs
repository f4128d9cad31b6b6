//! KindExtensions of the groups that the server core itself speaks: metadata, definitions of custom resources, APIServices.
//!
//! Definitions in `api-defs/` name the functions (`by_hand`). The types know them by tables, which [`register`] fills.

pub mod apiextensions;
pub mod apiregistration;
pub mod meta;
#[rustfmt::skip]
#[path = "../generated/registration.rs"]
mod registration;

pub use meta::*;
pub use registration::register;
