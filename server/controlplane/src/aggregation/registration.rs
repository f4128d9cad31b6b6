//! APIServices and their conditions.

use std::sync::Arc;

use apimachinery::apiregistration::v1::{APIService, api_service_condition_type, condition_status};
use endpoints::{AggregatedServer, GroupVersionResource, Registration};

pub(super) const API_SERVICES: GroupVersionResource = ("apiregistration.k8s.io", "v1", "apiservices");

/// The default port of a service reference (upstream: default of `APIServiceSpec`).
pub(super) const DEFAULT_PORT: i32 = 443;

pub(super) fn registration(service: &APIService) -> Registration {
    let spec = &service.spec;
    let available = condition(service).is_some_and(|condition| condition.status == condition_status::TRUE);
    let backend = spec.service.as_ref().map(|reference| {
        Arc::new(AggregatedServer {
            namespace: reference.namespace.clone(),
            name: reference.name.clone(),
            port: reference.port.unwrap_or(DEFAULT_PORT),
            ca_bundle: spec.ca_bundle.to_vec(),
            insecure: spec.insecure_skip_tls_verify,
            available,
        })
    });
    Registration {
        group: spec.group.clone(),
        version: spec.version.clone(),
        group_priority: spec.group_priority_minimum,
        version_priority: spec.version_priority,
        backend,
    }
}

/// Returns the `Available` condition of an APIService.
pub(super) fn condition(service: &APIService) -> Option<&apimachinery::apiregistration::v1::APIServiceCondition> {
    service.status.conditions.iter().find(|condition| condition.r#type == api_service_condition_type::AVAILABLE)
}
