//! Validation of what all objects have in common: metadata, selectors, conditions (upstream: `apimachinery/pkg/api/validation`,
//! `pkg/apis/meta/v1/validation`).

#[path = "meta/conditions.rs"]
mod conditions;
#[path = "meta/object_meta.rs"]
mod object_meta;
#[path = "meta/selectors.rs"]
mod selectors;

pub use conditions::*;
pub use object_meta::*;
pub use selectors::*;
