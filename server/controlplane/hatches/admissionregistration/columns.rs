//! Printed columns and selectable fields of `admissionregistration` that take more than a path: the functions its definitions name with `by_hand`.

pub fn mutating_admission_policy_binding_param_ref(_: &crate::admissionregistration::v1::MutatingAdmissionPolicyBinding, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn mutating_admission_policy_param_kind(_: &crate::admissionregistration::v1::MutatingAdmissionPolicy, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn validating_admission_policy_binding_param_ref(_: &crate::admissionregistration::v1::ValidatingAdmissionPolicyBinding, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn validating_admission_policy_param_kind(_: &crate::admissionregistration::v1::ValidatingAdmissionPolicy, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
