//! Printed columns of `rbac` that are computed: the functions of `by_hand = ..` in its definitions.

use machinery::print::{Cell, PrintContext};

use super::{SERVICE_ACCOUNT, USER, USER_GROUP};
use generated::rbac::v1::{ClusterRoleBinding, RoleBinding, RoleRef, Subject};

pub fn cluster_role_binding_groups(binding: &ClusterRoleBinding, _: &PrintContext) -> Cell {
    subjects(&binding.subjects, USER_GROUP)
}

pub fn cluster_role_binding_role(binding: &ClusterRoleBinding, _: &PrintContext) -> Cell {
    role(&binding.role_ref)
}

pub fn cluster_role_binding_service_accounts(binding: &ClusterRoleBinding, _: &PrintContext) -> Cell {
    subjects(&binding.subjects, SERVICE_ACCOUNT)
}

pub fn cluster_role_binding_users(binding: &ClusterRoleBinding, _: &PrintContext) -> Cell {
    subjects(&binding.subjects, USER)
}

pub fn role_binding_groups(binding: &RoleBinding, _: &PrintContext) -> Cell {
    subjects(&binding.subjects, USER_GROUP)
}

pub fn role_binding_role(binding: &RoleBinding, _: &PrintContext) -> Cell {
    role(&binding.role_ref)
}

pub fn role_binding_service_accounts(binding: &RoleBinding, _: &PrintContext) -> Cell {
    subjects(&binding.subjects, SERVICE_ACCOUNT)
}

pub fn role_binding_users(binding: &RoleBinding, _: &PrintContext) -> Cell {
    subjects(&binding.subjects, USER)
}

fn role(role: &RoleRef) -> Cell {
    format!("{}/{}", role.kind, role.name).into()
}

fn subjects(subjects: &[Subject], kind: &str) -> Cell {
    let text = |subject: &Subject| match kind {
        SERVICE_ACCOUNT => format!("{}/{}", subject.namespace, subject.name),
        _ => subject.name.clone(),
    };
    subjects.iter().filter(|s| s.kind == kind).map(text).collect::<Vec<_>>().join(", ").into()
}
