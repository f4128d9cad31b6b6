//! Hand-written functions that definitions of `node` name.

pub fn v1alpha1_runtime_class_from_hub(_: &mut crate::node::v1::RuntimeClass, _: &mut crate::node::v1alpha1::RuntimeClass) {}
pub fn v1alpha1_runtime_class_to_hub(_: &mut crate::node::v1alpha1::RuntimeClass, _: &mut crate::node::v1::RuntimeClass) {}
