//! Kind extensions of the API groups that the server core itself serves: metadata, custom resource
//! definitions, APIServices.
//!
//! Definitions in `api-defs/` refer to the functions (`by_hand`). [`register`] enters them into the
//! tables of the types.

pub mod apiextensions;
pub mod apiregistration;
pub mod meta;
#[rustfmt::skip]
#[path = "../generated/registration.rs"]
mod registration;

pub use meta::*;
pub use registration::register;
