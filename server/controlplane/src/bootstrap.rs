//! Objects that the server creates at start.

use std::sync::Arc;

use ::kubernetes::scheduling::{SYSTEM_PRIORITY_CLASSES, SystemPriorityClass};
use apimachinery::meta::v1::status_reason;
use endpoints::{GroupVersionResource, Loopback, ServerContext};
use futures_util::future::try_join_all;
use generated::core::v1::Namespace;
use generated::scheduling::v1::PriorityClass;
use machinery::reflect::Struct;
use machinery::status::Status;

use crate::services::{self, kubernetes};
use crate::tokens::tracking;
use crate::{aggregation, flow_control, identity, peers, rbac, trust};

/// Namespaces that always exist (`systemnamespaces.Controller`).
pub const SYSTEM_NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// Creates all missing objects. Independent objects are created concurrently, because the store
/// commits waiting writes in one batch.
pub async fn all(environment: &Arc<ServerContext>, loopback: &Arc<Loopback>) -> Result<(), Status> {
    let controller = environment.health.pending("poststarthook/bootstrap-controller");
    let (roles, classes) =
        ("poststarthook/rbac/bootstrap-roles", "poststarthook/scheduling/bootstrap-system-priority-classes");
    let (roles, classes) = (environment.health.pending(roles), environment.health.pending(classes));
    try_join_all(SYSTEM_NAMESPACES.map(|name| namespace(loopback, name))).await?;
    services::start(environment, loopback).await?;
    let roles = async {
        rbac::bootstrap(environment, loopback).await?;
        environment.access.roles.synced().await;
        roles.done();
        Ok(())
    };
    let classes = async {
        try_join_all(SYSTEM_PRIORITY_CLASSES.map(|class| priority_class(loopback, class))).await?;
        classes.done();
        Ok(())
    };
    tokio::try_join!(
        roles,
        classes,
        flow_control::start(environment, loopback),
        kubernetes::start(environment, loopback),
        identity::start(environment, loopback),
        peers::start(environment),
        trust::publish(environment, loopback),
        tracking::start(loopback, environment.backend.clock.clone()),
        aggregation::start(environment, loopback),
    )?;
    controller.done();
    Ok(())
}

async fn namespace(loopback: &Loopback, name: &'static str) -> Result<(), Status> {
    let mut namespace = Namespace::default();
    namespace.metadata.name = name.into();
    ensure(loopback, ("", "v1", "namespaces"), "", name, namespace).await
}

async fn priority_class(loopback: &Loopback, (name, value, description): SystemPriorityClass) -> Result<(), Status> {
    let mut class = PriorityClass { value, description: description.into(), ..PriorityClass::default() };
    class.metadata.name = name.into();
    ensure(loopback, ("scheduling.k8s.io", "v1", "priorityclasses"), "", name, class).await
}

/// Creates an object unless it exists.
async fn ensure<T: Struct>(
    loopback: &Loopback,
    resource: GroupVersionResource,
    namespace: &str,
    name: &str,
    object: T,
) -> Result<(), Status> {
    if !loopback.serves(resource) || loopback.get::<T>(resource, namespace, name).await?.is_some() {
        return Ok(());
    }
    match loopback.create(resource, object).await {
        Err(status) if status.reason != status_reason::ALREADY_EXISTS => Err(status),
        _ => Ok(()),
    }
}
