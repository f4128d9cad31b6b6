//! The checks of kube-apiserver 1.36.2, as observed, in its order.

use std::sync::Arc;

use options::ServerProgram;

use super::{Endpoints, Named};

const BOTH: Endpoints = Endpoints { healthy: true, alive: true, ready: true };
const ALIVE: Endpoints = Endpoints { healthy: true, alive: true, ready: false };
const READY: Endpoints = Endpoints { healthy: false, alive: false, ready: true };

const CHECKS: &[(&str, Endpoints)] = &[
    ("ping", BOTH),
    ("log", BOTH),
    ("loopback-serving-certificate", ALIVE),
    ("etcd", BOTH),
    ("etcd-readiness", READY),
    ("informer-sync", READY),
    ("poststarthook/start-apiserver-admission-initializer", BOTH),
    ("poststarthook/generic-apiserver-start-informers", BOTH),
    ("poststarthook/priority-and-fairness-config-consumer", BOTH),
    ("poststarthook/priority-and-fairness-filter", BOTH),
    ("poststarthook/storage-object-count-tracker-hook", BOTH),
    ("poststarthook/start-apiextensions-informers", BOTH),
    ("poststarthook/start-apiextensions-controllers", BOTH),
    ("poststarthook/crd-informer-synced", BOTH),
    ("poststarthook/start-system-namespaces-controller", BOTH),
    ("poststarthook/peer-endpoint-reconciler-controller", BOTH),
    ("poststarthook/start-cluster-authentication-info-controller", BOTH),
    ("poststarthook/start-kube-apiserver-identity-lease-controller", BOTH),
    ("poststarthook/start-kube-apiserver-identity-lease-garbage-collector", BOTH),
    ("poststarthook/storage-readiness", BOTH),
    ("poststarthook/start-legacy-token-tracking-controller", BOTH),
    ("poststarthook/start-service-ip-repair-controllers", BOTH),
    ("poststarthook/rbac/bootstrap-roles", BOTH),
    ("poststarthook/scheduling/bootstrap-system-priority-classes", BOTH),
    ("poststarthook/priority-and-fairness-config-producer", BOTH),
    ("poststarthook/bootstrap-controller", BOTH),
    ("poststarthook/start-kubernetes-service-cidr-controller", BOTH),
    ("poststarthook/start-kube-aggregator-informers", BOTH),
    ("poststarthook/apiservice-status-local-available-controller", BOTH),
    ("poststarthook/apiservice-status-remote-available-controller", BOTH),
    ("poststarthook/apiservice-registration-controller", BOTH),
    ("poststarthook/apiservice-discovery-controller", BOTH),
    ("poststarthook/kube-apiserver-autoregistration", BOTH),
    ("autoregister-completion", BOTH),
    ("poststarthook/apiservice-openapi-controller", BOTH),
    ("poststarthook/apiservice-openapiv3-controller", BOTH),
    ("shutdown", READY),
];

/// The checks of a generic API server (upstream: `GenericAPIServer`).
const GENERIC: [&str; 8] = [
    "ping",
    "log",
    "etcd",
    "etcd-readiness",
    "informer-sync",
    "poststarthook/generic-apiserver-start-informers",
    "poststarthook/storage-object-count-tracker-hook",
    "shutdown",
];

/// The checks of a program, all of which succeed.
pub(super) fn of(program: ServerProgram) -> Vec<Named> {
    let has = |name: &str| !program.delegates() || GENERIC.contains(&name);
    let checks = CHECKS.iter().filter(|(name, _)| has(name));
    checks.map(|(name, on)| Named { name, on: *on, check: Arc::new(|| Ok(())) }).collect()
}
