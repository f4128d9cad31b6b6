//! Compares a declared kind with the custom resource definition exported from it.
//!
//! Both accept the same objects, reject the same fields of other objects, and store the same
//! values.

pub mod case;
pub mod error;
pub mod form;
pub mod kinds;
pub mod make;
pub mod run;
pub mod side;
