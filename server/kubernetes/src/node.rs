//! Hand-written functions that definitions of `node` refer to.

use generated::node::{v1, v1alpha1};

mod validation;

pub use validation::*;

/// Moves the fields of v1alpha1's `spec` to the top level.
pub fn v1alpha1_runtime_class_to_hub(from: &mut v1alpha1::RuntimeClass, to: &mut v1::RuntimeClass) {
    let spec = std::mem::take(&mut from.spec);
    to.handler = spec.runtime_handler;
    to.overhead = spec.overhead;
    to.scheduling = spec.scheduling;
}

/// Moves the fields back to `spec`.
pub fn v1alpha1_runtime_class_from_hub(from: &mut v1::RuntimeClass, to: &mut v1alpha1::RuntimeClass) {
    to.spec = v1alpha1::RuntimeClassSpec {
        runtime_handler: std::mem::take(&mut from.handler),
        overhead: from.overhead.take(),
        scheduling: from.scheduling.take(),
    };
}
