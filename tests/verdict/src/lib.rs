//! One verdict: a declared kind, and the definition of a custom resource that is exported from it,
//! take the same objects, refuse the same fields of the others, and store the same.

pub mod case;
pub mod error;
pub mod form;
pub mod kinds;
pub mod make;
pub mod run;
pub mod side;
