//! Hand-written functions that definitions of `rbac` name.

pub fn cluster_role_binding_groups(_: &crate::rbac::v1::ClusterRoleBinding, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn cluster_role_binding_role(_: &crate::rbac::v1::ClusterRoleBinding, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn cluster_role_binding_service_accounts(_: &crate::rbac::v1::ClusterRoleBinding, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn cluster_role_binding_users(_: &crate::rbac::v1::ClusterRoleBinding, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn default_subject(_: &mut crate::rbac::v1::Subject) {}
pub fn default_v1alpha1_subject(_: &mut crate::rbac::v1alpha1::Subject) {}
pub fn role_binding_groups(_: &crate::rbac::v1::RoleBinding, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn role_binding_role(_: &crate::rbac::v1::RoleBinding, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn role_binding_service_accounts(_: &crate::rbac::v1::RoleBinding, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn role_binding_users(_: &crate::rbac::v1::RoleBinding, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn v1alpha1_subject_from_hub(_: &mut crate::rbac::v1::Subject, _: &mut crate::rbac::v1alpha1::Subject) {}
pub fn v1alpha1_subject_to_hub(_: &mut crate::rbac::v1alpha1::Subject, _: &mut crate::rbac::v1::Subject) {}
