//! Bindings: a role, and who has it.

use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::Validation;
use meta::validate_whole_object_meta_update;

use super::super::{GROUP, SERVICE_ACCOUNT, USER, USER_GROUP};
use crate::core::internal::internal_value;
use generated::rbac::v1::{ClusterRoleBinding, RoleBinding, RoleRef, Subject};

/// `ValidateRoleBinding`, `ValidateRoleBindingUpdate`
pub fn validate_role_binding(v: &mut Validation<'_>, path: &Path<'_>, new: &RoleBinding, old: Option<&RoleBinding>) {
    validate_role_ref(v, &path.child("roleRef"), &new.role_ref, &["Role", "ClusterRole"]);
    validate_subjects(v, &path.child("subjects"), &new.subjects, true);
    if let Some(old) = old {
        validate_whole_object_meta_update(v, &new.metadata, &old.metadata);
        validate_same_role(v, &path.child("roleRef"), &new.role_ref, &old.role_ref);
    }
}

/// `ValidateClusterRoleBinding`, `ValidateClusterRoleBindingUpdate`
pub fn validate_cluster_role_binding(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &ClusterRoleBinding,
    old: Option<&ClusterRoleBinding>,
) {
    validate_role_ref(v, &path.child("roleRef"), &new.role_ref, &["ClusterRole"]);
    validate_subjects(v, &path.child("subjects"), &new.subjects, false);
    if let Some(old) = old {
        validate_whole_object_meta_update(v, &new.metadata, &old.metadata);
        validate_same_role(v, &path.child("roleRef"), &new.role_ref, &old.role_ref);
    }
}

fn validate_role_ref(v: &mut Validation<'_>, path: &Path<'_>, role: &RoleRef, kinds: &[&str]) {
    if role.api_group != GROUP {
        v.not_supported(&path.child("apiGroup"), &role.api_group, &[GROUP]);
    }
    if !kinds.contains(&role.kind.as_str()) {
        v.not_supported(&path.child("kind"), &role.kind, kinds);
    }
    let name = path.child("name");
    if role.name.is_empty() {
        v.required(&name, "");
    } else {
        v.name(&name, &role.name, NameRule::PathSegment);
    }
}

fn validate_same_role(v: &mut Validation<'_>, path: &Path<'_>, new: &RoleRef, old: &RoleRef) {
    let parts = |role: &RoleRef| (role.api_group.clone(), role.kind.clone(), role.name.clone());
    if parts(old) != parts(new) {
        v.invalid(path, internal_value(new), "cannot change roleRef");
    }
}

/// `ValidateRoleBindingSubject` for each.
fn validate_subjects(v: &mut Validation<'_>, path: &Path<'_>, subjects: &[Subject], namespaced: bool) {
    for (index, subject) in subjects.iter().enumerate() {
        validate_subject(v, &path.index(index), subject, namespaced);
    }
}

fn validate_subject(v: &mut Validation<'_>, path: &Path<'_>, subject: &Subject, namespaced: bool) {
    v.filled(&path.child("name"), &subject.name);
    let group = path.child("apiGroup");
    match subject.kind.as_str() {
        SERVICE_ACCOUNT => {
            v.malformed_name(&path.child("name"), &subject.name, NameRule::Dns1123Subdomain, false);
            if !subject.api_group.is_empty() {
                v.not_supported(&group, &subject.api_group, &[""]);
            }
            if !namespaced {
                v.filled(&path.child("namespace"), &subject.namespace);
            }
        }
        USER | USER_GROUP => {
            if subject.api_group != GROUP {
                v.not_supported(&group, &subject.api_group, &[GROUP]);
            }
        }
        unknown => v.not_supported(&path.child("kind"), unknown, &[SERVICE_ACCOUNT, USER, USER_GROUP]),
    }
}
