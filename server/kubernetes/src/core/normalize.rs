//! Synchronizes fields with redundant information, as upstream's conversions to and from the internal
//! types do.

use std::collections::BTreeMap;

use bytes::Bytes;

use generated::core::v1::{NodeSpec, Pod, PodIP, PodSpec, PodStatus, PodTemplateSpec, Secret};

/// Annotations for init containers that predate the fields.
const INIT_CONTAINERS: [&str; 4] = [
    "pod.beta.kubernetes.io/init-containers",
    "pod.alpha.kubernetes.io/init-containers",
    "pod.beta.kubernetes.io/init-container-statuses",
    "pod.alpha.kubernetes.io/init-container-statuses",
];

fn drop_init_containers(annotations: &mut BTreeMap<String, String>) {
    for key in INIT_CONTAINERS {
        annotations.remove(key);
    }
}

/// Synchronizes `podCIDR` with the first of `podCIDRs`; `podCIDR` takes precedence.
pub fn normalize_node_spec(spec: &mut NodeSpec) {
    if !spec.pod_cidr.is_empty() && spec.pod_cidrs.first() != Some(&spec.pod_cidr) {
        spec.pod_cidrs = vec![spec.pod_cidr.clone()];
    }
    if let Some(first) = spec.pod_cidrs.first() {
        spec.pod_cidr.clone_from(first);
    }
}

/// Replaces a negative grace period, which requests immediate termination, by one second.
pub fn normalize_pod(pod: &mut Pod) {
    if let Some(seconds) = pod.spec.termination_grace_period_seconds.as_mut().filter(|seconds| **seconds < 0) {
        *seconds = 1;
    }
    drop_init_containers(&mut pod.metadata.annotations);
}

/// Synchronizes `serviceAccount`, the old name, with `serviceAccountName`. Internally the fields about
/// the host are in the security context.
pub fn normalize_pod_spec(spec: &mut PodSpec) {
    if spec.service_account_name.is_empty() {
        spec.service_account_name.clone_from(&spec.service_account);
    }
    spec.service_account.clone_from(&spec.service_account_name);
    let shares_host = spec.host_network || spec.host_pid || spec.host_ipc;
    if shares_host || spec.share_process_namespace.is_some() || spec.host_users.is_some() {
        spec.security_context.get_or_insert_default();
    }
}

/// Synchronizes `podIP` with the first of `podIPs`; `podIP` takes precedence.
pub fn normalize_pod_status(status: &mut PodStatus) {
    if !status.pod_ip.is_empty() && status.pod_ips.first().is_none_or(|first| first.ip != status.pod_ip) {
        status.pod_ips = vec![PodIP { ip: status.pod_ip.clone() }];
    }
    if let Some(first) = status.pod_ips.first() {
        status.pod_ip.clone_from(&first.ip);
    }
}

/// Removes the annotations for init containers.
pub fn normalize_pod_template_spec(template: &mut PodTemplateSpec) {
    drop_init_containers(&mut template.metadata.annotations);
}

/// Merges `stringData`, which is write-only, into `data`; it overrides `data`.
pub fn normalize_secret(secret: &mut Secret) {
    let strings = std::mem::take(&mut secret.string_data);
    secret.data.extend(strings.into_iter().map(|(key, value)| (key, Bytes::from(value))));
}
