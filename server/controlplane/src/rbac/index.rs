//! Updates the authorizer's index from stored roles and bindings.

use std::ops::ControlFlow;
use std::sync::Arc;

use authz::rbac::{Grant, RbacPolicy, RuleSource};
use generated::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use machinery::reflect::Struct;
use registry::{Informer, Observer, Stores};
use request::{BoxFuture, User};

use super::GROUP;
use super::convert::{self, AnyBinding};

/// Roles and bindings in memory, indexed by subject.
pub struct Index {
    policy: Arc<RbacPolicy>,
    cluster_roles: Option<Informer<ClusterRole>>,
    cluster_role_bindings: Option<Informer<ClusterRoleBinding>>,
    roles: Option<Informer<Role>>,
    role_bindings: Option<Informer<RoleBinding>>,
}

impl Index {
    /// Starts the informers of the four kinds. Needs a tokio runtime.
    pub fn start(stores: &Stores) -> Self {
        let policy = Arc::new(RbacPolicy::default());
        Index {
            cluster_roles: follow(stores, "clusterroles", {
                let policy = policy.clone();
                Box::new(move |old, new| match (old, new) {
                    (_, Some(role)) => policy.set_role("", &role.metadata.name, convert::rules(&role.rules)),
                    (Some(role), None) => policy.remove_role("", &role.metadata.name),
                    (None, None) => {}
                })
            }),
            roles: follow(stores, "roles", {
                let policy = policy.clone();
                Box::new(move |old, new| match (old, new) {
                    (_, Some(Role { metadata, rules, .. })) => {
                        policy.set_role(&metadata.namespace, &metadata.name, convert::rules(rules));
                    }
                    (Some(role), None) => policy.remove_role(&role.metadata.namespace, &role.metadata.name),
                    (None, None) => {}
                })
            }),
            cluster_role_bindings: follow(stores, "clusterrolebindings", bindings(&policy)),
            role_bindings: follow(stores, "rolebindings", bindings(&policy)),
            policy,
        }
    }
}

type Observe<T> = Box<dyn Fn(Option<&T>, Option<&T>) + Send + Sync>;

fn follow<T: Struct>(stores: &Stores, plural: &'static str, observe: Observe<T>) -> Option<Informer<T>> {
    let observer: Observer<T> = Box::new(move |old, new| observe(old.map(Arc::as_ref), new.map(Arc::as_ref)));
    stores.get(&(GROUP, plural)).map(|store| Informer::observed(store, vec![observer]))
}

fn bindings<T: AnyBinding>(policy: &Arc<RbacPolicy>) -> Observe<T> {
    let policy = policy.clone();
    Box::new(move |old, new| match (new.map(AnyBinding::binding), old) {
        (Some(Some(binding)), _) => policy.set_binding(binding),
        (_, Some(old)) => policy.remove_binding(&old.metadata().namespace, &old.metadata().name),
        _ => {}
    })
}

impl RuleSource for Index {
    fn visit(&self, user: &User, namespace: &str, visit: &mut dyn FnMut(Grant<'_>) -> ControlFlow<()>) {
        self.policy.visit(user, namespace, visit);
    }

    fn synced(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            synced(&self.cluster_roles).await;
            synced(&self.roles).await;
            synced(&self.cluster_role_bindings).await;
            synced(&self.role_bindings).await;
        })
    }
}

async fn synced<T: Struct>(informer: &Option<Informer<T>>) {
    if let Some(informer) = informer {
        informer.synced().await;
    }
}
