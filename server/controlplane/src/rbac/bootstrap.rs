//! Creates and reconciles the bootstrap policy at each start (`PolicyData.EnsureRBACPolicy`).

use std::future::Future;

use apimachinery::meta::v1::status_reason;
use endpoints::{GroupVersionResource, Loopback};
use futures_util::future::try_join_all;
use generated::rbac::v1::{ClusterRole, ClusterRoleBinding};
use machinery::features::FeatureGates;
use machinery::status::Status;

use super::convert::AnyBinding;
use super::policy::BootstrapPolicy;
use super::reconcile::{self, AnyRole, BindingAction};

const VERSION: &str = "v1";
const CLUSTER_ROLES: GroupVersionResource = (super::GROUP, VERSION, "clusterroles");
const CLUSTER_ROLE_BINDINGS: GroupVersionResource = (super::GROUP, VERSION, "clusterrolebindings");
const ROLES: GroupVersionResource = (super::GROUP, VERSION, "roles");
const ROLE_BINDINGS: GroupVersionResource = (super::GROUP, VERSION, "rolebindings");

/// Roles that became aggregated, and the roles that took over their rules.
const AGGREGATED: [(&str, &str); 3] = [
    ("admin", "system:aggregate-to-admin"),
    ("edit", "system:aggregate-to-edit"),
    ("view", "system:aggregate-to-view"),
];
/// A binding that was split, and the binding that received the same subjects.
const SPLIT: (&str, &str) = ("system:discovery", "system:public-info-viewer");

/// Maximum number of attempts after conflicts.
const ATTEMPTS: usize = 5;

/// Creates missing objects and reconciles existing ones.
pub async fn bootstrap(features: &FeatureGates, loopback: &Loopback) -> Result<(), Status> {
    if !loopback.serves(CLUSTER_ROLES) {
        return Ok(());
    }
    let policy = BootstrapPolicy::load(features).map_err(Status::internal)?;
    keep_custom_rules(loopback).await?;
    split_bindings(loopback, &policy).await?;
    let roles = |role| retried(move || ensure_role(loopback, CLUSTER_ROLES, role));
    let bindings = |binding| retried(move || ensure_binding(loopback, CLUSTER_ROLE_BINDINGS, binding));
    let namespaced_roles = |role| retried(move || ensure_role(loopback, ROLES, role));
    let namespaced_bindings = |binding| retried(move || ensure_binding(loopback, ROLE_BINDINGS, binding));
    tokio::try_join!(
        try_join_all(policy.cluster_roles.iter().map(roles)),
        try_join_all(policy.cluster_role_bindings.iter().map(bindings)),
        try_join_all(policy.roles.iter().map(namespaced_roles)),
        try_join_all(policy.role_bindings.iter().map(namespaced_bindings)),
    )?;
    Ok(())
}

/// Copies custom rules of a role that becomes aggregated to its aggregated role
/// (`primeAggregatedClusterRoles`).
async fn keep_custom_rules(loopback: &Loopback) -> Result<(), Status> {
    for (old, new) in AGGREGATED {
        if loopback.get::<ClusterRole>(CLUSTER_ROLES, "", new).await?.is_some() {
            continue;
        }
        let Some(mut role) = loopback.get::<ClusterRole>(CLUSTER_ROLES, "", old).await? else { continue };
        if role.aggregation_rule.is_some() {
            return Ok(());
        }
        role.metadata.name = new.to_owned();
        role.metadata.resource_version.clear();
        loopback.create(CLUSTER_ROLES, role).await?;
    }
    Ok(())
}

/// Copies the subjects of a split binding to the new binding (`primeSplitClusterRoleBindings`).
async fn split_bindings(loopback: &Loopback, policy: &BootstrapPolicy) -> Result<(), Status> {
    let (source, target) = SPLIT;
    let Some(stored) = loopback.get::<ClusterRoleBinding>(CLUSTER_ROLE_BINDINGS, "", source).await? else {
        return Ok(());
    };
    if loopback.get::<ClusterRoleBinding>(CLUSTER_ROLE_BINDINGS, "", target).await?.is_some() {
        return Ok(());
    }
    let Some(mut binding) = policy.cluster_role_bindings.iter().find(|b| b.metadata.name == target).cloned() else {
        return Ok(());
    };
    binding.subjects = stored.subjects;
    binding.metadata.labels = stored.metadata.labels;
    binding.metadata.annotations = stored.metadata.annotations;
    loopback.create(CLUSTER_ROLE_BINDINGS, binding).await.map(drop)
}

async fn ensure_role<R: AnyRole>(
    loopback: &Loopback,
    resource: GroupVersionResource,
    expected: &R,
) -> Result<(), Status> {
    let meta = expected.metadata();
    match loopback.get::<R>(resource, &meta.namespace, &meta.name).await? {
        None => loopback.create(resource, expected.clone()).await.map(drop),
        Some(stored) => match reconcile::role(&stored, expected) {
            Some(reconciled) => loopback.update(resource, reconciled).await.map(drop),
            None => Ok(()),
        },
    }
}

async fn ensure_binding<B: AnyBinding>(
    loopback: &Loopback,
    resource: GroupVersionResource,
    expected: &B,
) -> Result<(), Status> {
    let meta = expected.metadata();
    let Some(stored) = loopback.get::<B>(resource, &meta.namespace, &meta.name).await? else {
        return loopback.create(resource, expected.clone()).await.map(drop);
    };
    match reconcile::binding(&stored, expected) {
        BindingAction::Keep => Ok(()),
        BindingAction::Update(reconciled) => loopback.update(resource, reconciled).await.map(drop),
        BindingAction::Recreate => {
            loopback.delete(resource, &meta.namespace, &meta.name).await?;
            loopback.create(resource, expected.clone()).await.map(drop)
        }
    }
}

/// Retries after conflicts, because several servers may start at the same time.
async fn retried<F: Future<Output = Result<(), Status>>>(mut attempt: impl FnMut() -> F) -> Result<(), Status> {
    let mut outcome = attempt().await;
    for _ in 1..ATTEMPTS {
        match &outcome {
            Err(status)
                if matches!(
                    status.reason,
                    status_reason::CONFLICT | status_reason::ALREADY_EXISTS | status_reason::NOT_FOUND
                ) =>
            {
                outcome = attempt().await;
            }
            _ => break,
        }
    }
    outcome
}
