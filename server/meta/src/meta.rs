//! Validation of what all objects share: metadata, selectors, conditions (upstream:
//! `apimachinery/pkg/api/validation`, `pkg/apis/meta/v1/validation`).

mod conditions;
mod object_meta;
mod selectors;

pub use conditions::*;
pub use object_meta::*;
pub use selectors::*;
