//! Hand-written functions that definitions of `extensions` refer to. The group is the first version of
//! workloads, ingresses and network policies; its defaults preserve the behaviour of their controllers
//! at that time.

use machinery::scalar::IntOrString;

use super::apps::normalize::{put_rollback_to, put_template_generation, take_rollback_to, take_template_generation};
use super::core::meta::{labels_from_template, selector_from_template};
use super::networking::{backend_service, put_backend_service};
use generated::apps::v1 as apps;
use generated::extensions::v1beta1::{
    DaemonSet, Deployment, IngressBackend, NetworkPolicy, ReplicaSet, RollbackConfig, daemon_set_update_strategy_type,
    deployment_strategy_type,
};
use generated::networking::v1 as networking;

/// Mirrors `SetDefaults_DaemonSet` of extensions/v1beta1.
pub fn default_daemon_set(set: &mut DaemonSet) {
    let spec = &mut set.spec;
    selector_from_template(&mut spec.selector, &spec.template.metadata.labels);
    labels_from_template(&mut set.metadata.labels, &spec.template.metadata.labels);
    if spec.update_strategy.r#type == daemon_set_update_strategy_type::ROLLING_UPDATE {
        let update = spec.update_strategy.rolling_update.get_or_insert_default();
        update.max_unavailable.get_or_insert(IntOrString::Int(1));
        update.max_surge.get_or_insert(IntOrString::Int(0));
    }
}

/// Mirrors `SetDefaults_Deployment` of extensions/v1beta1.
pub fn default_deployment(deployment: &mut Deployment) {
    let spec = &mut deployment.spec;
    selector_from_template(&mut spec.selector, &spec.template.metadata.labels);
    labels_from_template(&mut deployment.metadata.labels, &spec.template.metadata.labels);
    let strategy = &mut spec.strategy;
    if strategy.r#type == deployment_strategy_type::ROLLING_UPDATE || strategy.rolling_update.is_some() {
        let update = strategy.rolling_update.get_or_insert_default();
        update.max_unavailable.get_or_insert(IntOrString::Int(1));
        update.max_surge.get_or_insert(IntOrString::Int(1));
    }
}

/// Mirrors `SetDefaults_NetworkPolicy` of extensions/v1beta1.
pub fn default_network_policy(policy: &mut NetworkPolicy) {
    let egress = !policy.spec.egress.is_empty();
    super::networking::default_policy_types(&mut policy.spec.policy_types, egress);
}

/// Mirrors `SetDefaults_ReplicaSet` of extensions/v1beta1.
pub fn default_replica_set(set: &mut ReplicaSet) {
    let spec = &mut set.spec;
    selector_from_template(&mut spec.selector, &spec.template.metadata.labels);
    labels_from_template(&mut set.metadata.labels, &spec.template.metadata.labels);
}

/// Converts `spec.templateGeneration` to an annotation.
pub fn daemon_set_to_hub(from: &mut DaemonSet, to: &mut apps::DaemonSet) {
    let annotations = &mut to.metadata.annotations;
    take_template_generation(annotations);
    put_template_generation(annotations, from.spec.template_generation);
}

/// Converts the annotation to `spec.templateGeneration`.
pub fn daemon_set_from_hub(_: &mut apps::DaemonSet, to: &mut DaemonSet) {
    to.spec.template_generation = take_template_generation(&mut to.metadata.annotations).unwrap_or_default();
}

/// Converts `spec.rollbackTo` to an annotation.
pub fn deployment_to_hub(from: &mut Deployment, to: &mut apps::Deployment) {
    if let Some(rollback) = from.spec.rollback_to.take() {
        put_rollback_to(&mut to.metadata.annotations, rollback.revision);
    }
}

/// Converts the annotation to `spec.rollbackTo`.
pub fn deployment_from_hub(_: &mut apps::Deployment, to: &mut Deployment) {
    if let Some(revision) = take_rollback_to(&mut to.metadata.annotations) {
        to.spec.rollback_to = Some(Box::new(RollbackConfig { revision }));
    }
}

/// Converts `serviceName` and `servicePort` to `service`.
pub fn ingress_backend_to_hub(from: &mut IngressBackend, to: &mut networking::IngressBackend) {
    to.service = backend_service(&mut from.service_name, &mut from.service_port);
}

/// Converts `service` to `serviceName` and `servicePort`.
pub fn ingress_backend_from_hub(from: &mut networking::IngressBackend, to: &mut IngressBackend) {
    put_backend_service(from.service.take(), &mut to.service_name, &mut to.service_port);
}
