//! Hand-written functions that definitions of `extensions` name.

pub fn daemon_set_from_hub(_: &mut crate::apps::v1::DaemonSet, _: &mut crate::extensions::v1beta1::DaemonSet) {}
pub fn daemon_set_to_hub(_: &mut crate::extensions::v1beta1::DaemonSet, _: &mut crate::apps::v1::DaemonSet) {}
pub fn default_daemon_set(_: &mut crate::extensions::v1beta1::DaemonSet) {}
pub fn default_deployment(_: &mut crate::extensions::v1beta1::Deployment) {}
pub fn default_network_policy(_: &mut crate::extensions::v1beta1::NetworkPolicy) {}
pub fn default_replica_set(_: &mut crate::extensions::v1beta1::ReplicaSet) {}
pub fn deployment_from_hub(_: &mut crate::apps::v1::Deployment, _: &mut crate::extensions::v1beta1::Deployment) {}
pub fn deployment_to_hub(_: &mut crate::extensions::v1beta1::Deployment, _: &mut crate::apps::v1::Deployment) {}
pub fn ingress_backend_from_hub(_: &mut crate::networking::v1::IngressBackend, _: &mut crate::extensions::v1beta1::IngressBackend) {}
pub fn ingress_backend_to_hub(_: &mut crate::extensions::v1beta1::IngressBackend, _: &mut crate::networking::v1::IngressBackend) {}
