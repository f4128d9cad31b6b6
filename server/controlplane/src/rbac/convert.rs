//! Conversion between stored roles and bindings and the types of authorization.

use authz::PolicyRule;
use authz::rbac::{Binding, RoleRef, Subject};
use generated::rbac::v1;
use kubernetes::rbac::{SERVICE_ACCOUNT, USER, USER_GROUP};
use machinery::reflect::Struct;

/// Converts stored rules to rules of the authorizer.
pub fn rules(rules: &[v1::PolicyRule]) -> Vec<PolicyRule> {
    let rule = |rule: &v1::PolicyRule| PolicyRule {
        verbs: rule.verbs.clone(),
        api_groups: rule.api_groups.clone(),
        resources: rule.resources.clone(),
        resource_names: rule.resource_names.clone(),
        non_resource_urls: rule.non_resource_urls.clone(),
    };
    rules.iter().map(rule).collect()
}

/// Converts a rule of the authorizer to a stored rule.
pub fn stored_rule(rule: PolicyRule) -> v1::PolicyRule {
    v1::PolicyRule {
        verbs: rule.verbs,
        api_groups: rule.api_groups,
        resources: rule.resources,
        resource_names: rule.resource_names,
        non_resource_urls: rule.non_resource_urls,
    }
}

/// The common part of RoleBinding and ClusterRoleBinding.
pub trait AnyBinding: Struct + Clone + PartialEq {
    fn metadata(&self) -> &apimachinery::meta::v1::ObjectMeta;
    fn metadata_mut(&mut self) -> &mut apimachinery::meta::v1::ObjectMeta;
    fn role(&self) -> &v1::RoleRef;
    fn subjects(&self) -> &[v1::Subject];
    fn subjects_mut(&mut self) -> &mut Vec<v1::Subject>;

    /// Converts to a binding of the authorizer. Subjects and roles of unknown kinds are dropped,
    /// because they grant nothing.
    fn binding(&self) -> Option<Binding> {
        Some(Binding {
            namespace: self.metadata().namespace.clone(),
            name: self.metadata().name.clone(),
            role: role_ref(self.role())?,
            subjects: self.subjects().iter().filter_map(subject).collect(),
        })
    }
}

macro_rules! bindings {
    ($($kind:ident)*) => {$(
        impl AnyBinding for v1::$kind {
            fn metadata(&self) -> &apimachinery::meta::v1::ObjectMeta {
                &self.metadata
            }

            fn metadata_mut(&mut self) -> &mut apimachinery::meta::v1::ObjectMeta {
                &mut self.metadata
            }

            fn role(&self) -> &v1::RoleRef {
                &self.role_ref
            }

            fn subjects(&self) -> &[v1::Subject] {
                &self.subjects
            }

            fn subjects_mut(&mut self) -> &mut Vec<v1::Subject> {
                &mut self.subjects
            }
        }
    )*};
}

bindings! { RoleBinding ClusterRoleBinding }

fn role_ref(role: &v1::RoleRef) -> Option<RoleRef> {
    match role.kind.as_str() {
        "Role" => Some(RoleRef::Role(role.name.clone())),
        "ClusterRole" => Some(RoleRef::ClusterRole(role.name.clone())),
        _ => None,
    }
}

fn subject(subject: &v1::Subject) -> Option<Subject> {
    match subject.kind.as_str() {
        USER => Some(Subject::User(subject.name.clone())),
        USER_GROUP => Some(Subject::Group(subject.name.clone())),
        SERVICE_ACCOUNT => Some(Subject::ServiceAccount(subject.namespace.clone(), subject.name.clone())),
        _ => None,
    }
}
