//! Roles, bindings, and the trait of their sources.

use std::ops::ControlFlow;
use std::sync::Arc;

use machinery::scalar::go_text::quote;
use request::user::service_account_user_name;
use request::{BoxFuture, User};

use crate::authorizer::{UserRules, ready};
use crate::policy_rule::PolicyRule;

/// The role that a binding references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoleRef {
    /// A role in the namespace of the binding.
    Role(String),
    ClusterRole(String),
}

/// A subject of a binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    User(String),
    Group(String),
    /// Namespace and name. In a role binding, an empty namespace stands for that of the binding.
    ServiceAccount(String, String),
}

/// A RoleBinding or, without a namespace, a ClusterRoleBinding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    pub namespace: String,
    pub name: String,
    pub role: RoleRef,
    pub subjects: Vec<Subject>,
}

/// A binding that applies to a user, the subject that matches the user, and the granted rules.
#[derive(Clone, Copy, Debug)]
pub struct Grant<'a> {
    pub binding: &'a Binding,
    pub subject: &'a Subject,
    /// `None` if the referenced role does not exist.
    pub rules: Option<&'a [PolicyRule]>,
}

/// A source of roles and bindings (upstream: `validation.AuthorizationRuleResolver`).
pub trait RuleSource: Send + Sync {
    /// Visits the grants of a user, each binding once: cluster role bindings first, then the role bindings of the
    /// namespace, unless it is empty.
    fn visit(&self, user: &User, namespace: &str, visit: &mut dyn FnMut(Grant<'_>) -> ControlFlow<()>);

    /// Waits until the objects that were stored at server startup are loaded.
    fn synced(&self) -> BoxFuture<'_, ()> {
        ready(())
    }

    /// Returns all rules of a user, and an error for each missing role (upstream: `RulesFor`).
    fn rules_for(&self, user: &User, namespace: &str) -> UserRules {
        let mut all = UserRules::default();
        self.visit(user, namespace, &mut |grant| {
            match grant.rules {
                Some(granted) => all.rules.extend_from_slice(granted),
                None => all.errors.push(grant.missing_role()),
            }
            ControlFlow::Continue(())
        });
        all
    }
}

/// A source without any role or binding.
pub struct NoRoles;

impl RuleSource for NoRoles {
    fn visit(&self, _: &User, _: &str, _: &mut dyn FnMut(Grant<'_>) -> ControlFlow<()>) {}
}

impl<S: RuleSource + ?Sized> RuleSource for Arc<S> {
    fn visit(&self, user: &User, namespace: &str, visit: &mut dyn FnMut(Grant<'_>) -> ControlFlow<()>) {
        (**self).visit(user, namespace, visit);
    }

    fn synced(&self) -> BoxFuture<'_, ()> {
        (**self).synced()
    }
}

impl Grant<'_> {
    pub(super) fn missing_role(&self) -> String {
        match &self.binding.role {
            RoleRef::Role(name) => format!("role.rbac.authorization.k8s.io {} not found", quote(name)),
            RoleRef::ClusterRole(name) => format!("clusterrole.rbac.authorization.k8s.io {} not found", quote(name)),
        }
    }

    /// Describes the grant for the reason of a decision.
    pub(super) fn describe(&self) -> String {
        let Binding { namespace, name, role, .. } = self.binding;
        let binding = match namespace.as_str() {
            "" => format!("ClusterRoleBinding {}", quote(name)),
            namespace => format!("RoleBinding {}", quote(&format!("{name}/{namespace}"))),
        };
        let role = match role {
            RoleRef::Role(name) => format!("Role {}", quote(name)),
            RoleRef::ClusterRole(name) => format!("ClusterRole {}", quote(name)),
        };
        let subject = match self.subject {
            Subject::User(name) => format!("User {}", quote(name)),
            Subject::Group(name) => format!("Group {}", quote(name)),
            Subject::ServiceAccount(own, name) => {
                format!("ServiceAccount {}", quote(&format!("{name}/{}", if own.is_empty() { namespace } else { own })))
            }
        };
        format!("{binding} of {role} to {subject}")
    }
}

impl Binding {
    /// Whether a subject matches this user.
    pub(super) fn subject_matches(&self, subject: &Subject, user: &User) -> bool {
        match subject {
            Subject::Group(group) => user.is_in(group),
            other => self.user_name(other).is_some_and(|name| name == user.name),
        }
    }

    /// Returns the user name of a user or service account subject.
    pub(super) fn user_name(&self, subject: &Subject) -> Option<String> {
        match subject {
            Subject::User(name) => Some(name.clone()),
            Subject::Group(_) => None,
            Subject::ServiceAccount(namespace, name) => {
                let namespace = if namespace.is_empty() { &self.namespace } else { namespace };
                (!namespace.is_empty()).then(|| service_account_user_name(namespace, name))
            }
        }
    }
}
