//! Hand-written functions that definitions of `apps` name.

#[path = "apps/columns.rs"]
mod columns;

pub use columns::*;

pub fn default_daemon_set(_: &mut crate::apps::v1::DaemonSet) {}

pub fn default_deployment(_: &mut crate::apps::v1::Deployment) {}

pub fn default_stateful_set(_: &mut crate::apps::v1::StatefulSet) {}

pub fn default_v1beta1_deployment(_: &mut crate::apps::v1beta1::Deployment) {}

pub fn default_v1beta1_stateful_set(_: &mut crate::apps::v1beta1::StatefulSet) {}

pub fn normalize_daemon_set(_: &mut crate::apps::v1::DaemonSet) {}

pub fn normalize_deployment(_: &mut crate::apps::v1::Deployment) {}

pub fn normalize_stateful_set_spec(_: &mut crate::apps::v1::StatefulSetSpec) {}

pub fn v1beta1_deployment_from_hub(_: &mut crate::apps::v1::Deployment, _: &mut crate::apps::v1beta1::Deployment) {}

pub fn v1beta1_deployment_to_hub(_: &mut crate::apps::v1beta1::Deployment, _: &mut crate::apps::v1::Deployment) {}
