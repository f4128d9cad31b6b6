//! Printed columns and selectable fields of `rbac` that take more than a path: the functions its definitions name with `by_hand`.

pub fn cluster_role_binding_groups(_: &crate::rbac::v1::ClusterRoleBinding, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn cluster_role_binding_role(_: &crate::rbac::v1::ClusterRoleBinding, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn cluster_role_binding_service_accounts(_: &crate::rbac::v1::ClusterRoleBinding, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn cluster_role_binding_users(_: &crate::rbac::v1::ClusterRoleBinding, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn role_binding_groups(_: &crate::rbac::v1::RoleBinding, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn role_binding_role(_: &crate::rbac::v1::RoleBinding, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn role_binding_service_accounts(_: &crate::rbac::v1::RoleBinding, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn role_binding_users(_: &crate::rbac::v1::RoleBinding, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
