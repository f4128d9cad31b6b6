//! Roles and bindings in memory, found by whom they are about.
//!
//! Whoever watches roles and bindings keeps this up to date. It is indexed by user and group, because nearly every request asks it, and a
//! cluster has thousands of bindings of which a few concern one user.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::{Binding, Grant, PolicyRule, RoleRef, RuleSource, Subject};
use crate::user::User;

/// Roles and bindings.
#[derive(Debug, Default)]
pub struct Policy(RwLock<Scopes>);

#[derive(Debug, Default)]
struct Scopes {
    /// Cluster roles and cluster role bindings.
    cluster: Scope,
    namespaces: HashMap<String, Scope>,
}

/// Roles and bindings of one namespace, or of none.
#[derive(Debug, Default)]
struct Scope {
    roles: HashMap<String, Vec<PolicyRule>>,
    bindings: HashMap<String, Arc<Binding>>,
    users: HashMap<String, Vec<Entry>>,
    groups: HashMap<String, Vec<Entry>>,
}

/// A binding, and which of its subjects is meant.
#[derive(Debug)]
struct Entry {
    binding: Arc<Binding>,
    subject: usize,
}

impl Policy {
    /// Puts a role, or without a namespace a cluster role, in place of any of its name.
    pub fn set_role(&self, namespace: &str, name: &str, rules: Vec<PolicyRule>) {
        self.write().scope(namespace).roles.insert(name.to_owned(), rules);
    }

    /// Forgets a role or cluster role.
    pub fn remove_role(&self, namespace: &str, name: &str) {
        self.write().change(namespace, |scope| drop(scope.roles.remove(name)));
    }

    /// Puts a binding in place of any of its name.
    pub fn set_binding(&self, binding: Binding) {
        let binding = Arc::new(binding);
        let mut scopes = self.write();
        let scope = scopes.scope(&binding.namespace);
        scope.unbind(&binding.name);
        scope.bind(binding);
    }

    /// Forgets a binding.
    pub fn remove_binding(&self, namespace: &str, name: &str) {
        self.write().change(namespace, |scope| scope.unbind(name));
    }

    // A poisoned lock still holds whole entries: every change is a few inserts that cannot panic halfway.
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

    /// Changes a scope, and drops that of a namespace when nothing is left in it.
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
        for (subject, whom) in binding.subjects.iter().enumerate() {
            let entry = Entry { binding: Arc::clone(&binding), subject };
            match (whom, binding.user_name(whom)) {
                (Subject::Group(group), _) => self.groups.entry(group.clone()).or_default().push(entry),
                (_, Some(user)) => self.users.entry(user).or_default().push(entry),
                (_, None) => {}
            }
        }
        self.bindings.insert(binding.name.clone(), binding);
    }

    fn unbind(&mut self, name: &str) {
        let Some(binding) = self.bindings.remove(name) else { return };
        for whom in &binding.subjects {
            match (whom, binding.user_name(whom)) {
                (Subject::Group(group), _) => forget(&mut self.groups, group, name),
                (_, Some(user)) => forget(&mut self.users, &user, name),
                (_, None) => {}
            }
        }
    }

    fn entries<'a>(&'a self, user: &'a User) -> impl Iterator<Item = &'a Entry> {
        let groups = user.groups.iter().filter_map(|group| self.groups.get(group));
        self.users.get(&user.name).into_iter().chain(groups).flatten()
    }
}

fn forget(index: &mut HashMap<String, Vec<Entry>>, key: &str, binding: &str) {
    if let Some(entries) = index.get_mut(key) {
        entries.retain(|entry| entry.binding.name != binding);
        if entries.is_empty() {
            index.remove(key);
        }
    }
}

impl RuleSource for Policy {
    fn visit(&self, user: &User, namespace: &str, visit: &mut dyn FnMut(Grant<'_>) -> ControlFlow<()>) {
        let scopes = self.read();
        let own = Some(namespace).filter(|n| !n.is_empty()).and_then(|n| scopes.namespaces.get(n));
        for scope in std::iter::once(&scopes.cluster).chain(own) {
            for Entry { binding, subject } in scope.entries(user) {
                // A binding may name a user several times over; the first time counts.
                if binding.subjects[..*subject].iter().any(|earlier| binding.means(earlier, user)) {
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
