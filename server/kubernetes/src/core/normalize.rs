//! Fields that say the same thing twice, brought in line as upstream's conversions to and from the internal types do.

use std::collections::BTreeMap;

use bytes::Bytes;

use generated::core::v1::{NodeSpec, Pod, PodIP, PodSpec, PodStatus, PodTemplateSpec, Secret};

/// Annotations in which init containers stood before they were fields.
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

/// The single range is the first of the ranges, and wins where they differ.
pub fn normalize_node_spec(spec: &mut NodeSpec) {
    if !spec.pod_cidr.is_empty() && spec.pod_cidrs.first() != Some(&spec.pod_cidr) {
        spec.pod_cidrs = vec![spec.pod_cidr.clone()];
    }
    if let Some(first) = spec.pod_cidrs.first() {
        spec.pod_cidr.clone_from(first);
    }
}

/// A negative grace period means at once, which is a second.
pub fn normalize_pod(pod: &mut Pod) {
    if let Some(seconds) = pod.spec.termination_grace_period_seconds.as_mut().filter(|seconds| **seconds < 0) {
        *seconds = 1;
    }
    drop_init_containers(&mut pod.metadata.annotations);
}

/// `serviceAccount` is the old name of `serviceAccountName`; the fields about the host live in the security context internally.
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

/// The single address is the first of the addresses, and wins where they differ.
pub fn normalize_pod_status(status: &mut PodStatus) {
    if !status.pod_ip.is_empty() && status.pod_ips.first().is_none_or(|first| first.ip != status.pod_ip) {
        status.pod_ips = vec![PodIP { ip: status.pod_ip.clone() }];
    }
    if let Some(first) = status.pod_ips.first() {
        status.pod_ip.clone_from(&first.ip);
    }
}

/// Drops the annotations that were init containers once.
pub fn normalize_pod_template_spec(template: &mut PodTemplateSpec) {
    drop_init_containers(&mut template.metadata.annotations);
}

/// `stringData` is write only: it overrides `data`.
pub fn normalize_secret(secret: &mut Secret) {
    let strings = std::mem::take(&mut secret.string_data);
    secret.data.extend(strings.into_iter().map(|(key, value)| (key, Bytes::from(value))));
}
