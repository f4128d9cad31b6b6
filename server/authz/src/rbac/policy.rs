//! An in-memory index of roles and bindings by user and group.
//!
//! The caller watches roles and bindings and updates the index. Nearly every request queries it. A cluster has
//! thousands of bindings, of which only a few apply to one user.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use request::User;

use super::source::{Binding, Grant, RoleRef, RuleSource, Subject};
use crate::policy_rule::PolicyRule;

/// The roles and bindings of the cluster, indexed by user and group.
#[derive(Debug, Default)]
pub struct RbacPolicy(RwLock<Scopes>);

#[derive(Debug, Default)]
struct Scopes {
    /// Cluster roles and cluster role bindings.
    cluster: Scope,
    namespaces: HashMap<String, Scope>,
}

/// The roles and bindings of one namespace, or of the cluster scope.
#[derive(Debug, Default)]
struct Scope {
    roles: HashMap<String, Vec<PolicyRule>>,
    bindings: HashMap<String, Arc<Binding>>,
    users: HashMap<String, Vec<Entry>>,
    groups: HashMap<String, Vec<Entry>>,
}

/// A binding and the index of one of its subjects.
#[derive(Debug)]
struct Entry {
    binding: Arc<Binding>,
    subject: usize,
}

impl RbacPolicy {
    /// Creates or replaces a role, or a cluster role if `namespace` is empty.
    pub fn set_role(&self, namespace: &str, name: &str, rules: Vec<PolicyRule>) {
        self.write().scope(namespace).roles.insert(name.to_owned(), rules);
    }

    /// Removes a role, or a cluster role if `namespace` is empty.
    pub fn remove_role(&self, namespace: &str, name: &str) {
        self.write().change(namespace, |scope| drop(scope.roles.remove(name)));
    }

    /// Creates or replaces a binding.
    pub fn set_binding(&self, binding: Binding) {
        let binding = Arc::new(binding);
        let mut scopes = self.write();
        let scope = scopes.scope(&binding.namespace);
        scope.unbind(&binding.name);
        scope.bind(binding);
    }

    /// Removes a binding.
    pub fn remove_binding(&self, namespace: &str, name: &str) {
        self.write().change(namespace, |scope| scope.unbind(name));
    }

    // A poisoned lock still guards consistent entries: a change is a few inserts that cannot panic halfway.
    fn read(&self) -> RwLockReadGuard<'_, Scopes> {
        self.0.read().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn write(&self) -> RwLockWriteGuard<'_, Scopes> {
        self.0.write().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Scopes {
    fn scope(&mut self, namespace: &str) -> &mut Scope {
        match namespace {
            "" => &mut self.cluster,
            namespace => self.namespaces.entry(namespace.to_owned()).or_default(),
        }
    }

    /// Changes a scope. Drops the scope of a namespace if it is empty afterwards.
    fn change(&mut self, namespace: &str, change: impl FnOnce(&mut Scope)) {
        change(self.scope(namespace));
        self.namespaces
            .retain(|name, scope| name != namespace || !(scope.roles.is_empty() && scope.bindings.is_empty()));
    }

    fn rules(&self, binding: &Binding) -> Option<&[PolicyRule]> {
        let rules = match &binding.role {
            RoleRef::ClusterRole(name) => self.cluster.roles.get(name),
            RoleRef::Role(name) => self.namespaces.get(&binding.namespace)?.roles.get(name),
        };
        rules.map(Vec::as_slice)
    }
}

impl Scope {
    fn bind(&mut self, binding: Arc<Binding>) {
        for (index, subject) in binding.subjects.iter().enumerate() {
            let entry = Entry { binding: Arc::clone(&binding), subject: index };
            match (subject, binding.user_name(subject)) {
                (Subject::Group(group), _) => self.groups.entry(group.clone()).or_default().push(entry),
                (_, Some(user)) => self.users.entry(user).or_default().push(entry),
                (_, None) => {}
            }
        }
        self.bindings.insert(binding.name.clone(), binding);
    }

    fn unbind(&mut self, name: &str) {
        let Some(binding) = self.bindings.remove(name) else { return };
        for subject in &binding.subjects {
            match (subject, binding.user_name(subject)) {
                (Subject::Group(group), _) => remove_entries(&mut self.groups, group, name),
                (_, Some(user)) => remove_entries(&mut self.users, &user, name),
                (_, None) => {}
            }
        }
    }

    fn entries<'a>(&'a self, user: &'a User) -> impl Iterator<Item = &'a Entry> {
        let groups = user.groups.iter().filter_map(|group| self.groups.get(group));
        self.users.get(&user.name).into_iter().chain(groups).flatten()
    }
}

/// Removes the entries of a binding from an index.
fn remove_entries(index: &mut HashMap<String, Vec<Entry>>, key: &str, binding: &str) {
    if let Some(entries) = index.get_mut(key) {
        entries.retain(|entry| entry.binding.name != binding);
        if entries.is_empty() {
            index.remove(key);
        }
    }
}

impl RuleSource for RbacPolicy {
    fn visit(&self, user: &User, namespace: &str, visit: &mut dyn FnMut(Grant<'_>) -> ControlFlow<()>) {
        let scopes = self.read();
        let own = Some(namespace).filter(|n| !n.is_empty()).and_then(|n| scopes.namespaces.get(n));
        for scope in std::iter::once(&scopes.cluster).chain(own) {
            for Entry { binding, subject } in scope.entries(user) {
                // A binding may have several subjects that match the user; only the first one applies.
                if binding.subjects[..*subject].iter().any(|earlier| binding.subject_matches(earlier, user)) {
                    continue;
                }
                let grant = Grant { binding, subject: &binding.subjects[*subject], rules: scopes.rules(binding) };
                if visit(grant).is_break() {
                    return;
                }
            }
        }
    }
}
