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

use crate::aggregation::AggregationContext;
use crate::services::{self, AllocatorContext, kubernetes};
use crate::tokens::tracking;
use crate::trust::TrustedCas;
use crate::{aggregation, flow_control, identity, peers, rbac, trust};

/// Namespaces that always exist (`systemnamespaces.Controller`).
pub const SYSTEM_NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// Creates all missing objects. Independent objects are created concurrently, because the store
/// commits waiting writes in one batch.
pub async fn all(environment: &ServerContext, loopback: &Arc<Loopback>) -> Result<(), Status> {
    let ServerContext { options, informers, discovery, services, .. } = environment;
    let ServerContext { health, metrics, backend, shutdown, .. } = environment;
    let clock = &backend.clock;
    let controller = health.pending("poststarthook/bootstrap-controller");
    let (roles, classes) =
        ("poststarthook/rbac/bootstrap-roles", "poststarthook/scheduling/bootstrap-system-priority-classes");
    let (roles, classes) = (health.pending(roles), health.pending(classes));
    let registry = metrics.registry();
    let allocators = AllocatorContext { informers, backend, options, registry, shutdown };
    let aggregation = &options.aggregation;
    let aggregation =
        AggregationContext { informers, discovery, services, options: aggregation, clock, health, metrics };
    let headers = options.authentication.request_headers.as_ref();
    let front_proxies = environment.proxy_ca.as_deref().zip(headers.map(|(_, headers)| headers));
    let trusted = TrustedCas { clients: &environment.client_ca, front_proxies };
    try_join_all(SYSTEM_NAMESPACES.map(|name| namespace(loopback, name))).await?;
    services::start(allocators, loopback).await?;
    let roles = async {
        rbac::bootstrap(&options.features, loopback).await?;
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
        flow_control::start(informers, clock, health, environment.flow_control.as_ref(), loopback),
        kubernetes::start(options, backend, informers, shutdown, loopback),
        identity::start(options, clock, informers, shutdown, loopback),
        async {
            peers::publish(options, backend, health, shutdown);
            peers::watch_others(options, informers, health, discovery).await;
            Ok(())
        },
        trust::publish(trusted, loopback),
        tracking::start(loopback, clock.clone()),
        aggregation::start(aggregation, loopback),
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
