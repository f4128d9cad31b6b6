//! The spec of pods and of their templates.

use std::collections::BTreeSet;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{self, NameRule};
use machinery::hooks::Validation;

use super::affinity::validate_affinity;
use super::annotations::MIRROR;
use super::container::Surroundings;
use super::dns::{DNS_POLICIES, validate_dns_config, validate_host_aliases};
use super::options::PodOptions;
use super::pod_resources::validate_resources_of_pod;
use super::resources::validate_overhead;
use super::security_context::validate_pod_security_context;
use super::tolerations::validate_tolerations;
use super::topology::validate_spread_constraints;
use super::visit::for_each_container;
use super::volume::validate_volumes;
use super::windows::{refuse_linux_fields, refuse_windows_options, validate_host_processes};
use crate::core::internal::internal_value;
use generated::core::v1::{PodResourceClaim, PodSchedulingGate, PodSchedulingGroup, PodSpec};
use generated::meta::v1::ObjectMeta;
use meta::validate_labels;

const RESTART_POLICIES: [&str; 3] = ["Always", "OnFailure", "Never"];
const PREEMPTION_POLICIES: [&str; 2] = ["PreemptLowerPriority", "Never"];
const SYSTEMS: [&str; 2] = ["linux", "windows"];
const MAX_HOSTNAME: usize = 64;
const OWN_USERS: &str = "when `hostUsers` is false";

/// `ValidatePodSpec`; `meta` is that of the pod, `None` in templates.
pub fn validate_pod_spec(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &PodSpec,
    meta: Option<&ObjectMeta>,
    options: &PodOptions,
) {
    if spec.termination_grace_period_seconds.is_none() {
        v.required(&path.child("terminationGracePeriodSeconds"), "");
    }
    let pod = meta.map_or("", |meta| meta.name.as_str());
    let volumes = validate_volumes(v, &path.child("volumes"), &spec.volumes, pod, options);
    let claims: BTreeSet<&str> =
        spec.resource_claims.iter().map(|c| c.name.as_str()).filter(|n| !n.is_empty()).collect();
    validate_claims(v, &path.child("resourceClaims"), &spec.resource_claims, meta);
    let surroundings = Surroundings { spec, volumes, claims, options };
    surroundings.validate_containers(v, &path.child("containers"));
    surroundings.validate_init_containers(v, &path.child("initContainers"));
    surroundings.validate_ephemeral_containers(v, &path.child("ephemeralContainers"));
    if options.pod_level_resources {
        validate_resources_of_pod(v, &path.child("resources"), spec, &surroundings.claims, options);
    }
    validate_policies(v, path, spec, options);
    validate_scheduling(v, path, spec, options);
    validate_host(v, path, spec, options);
    validate_names(v, path, spec);
    validate_rest(v, path, spec, options);
}

fn validate_policies(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodSpec, options: &PodOptions) {
    validate_ports_of_host(v, &path.child("containers"), spec, options);
    v.required_one_of(&path.child("restartPolicy"), &spec.restart_policy, &RESTART_POLICIES);
    v.required_one_of(&path.child("dnsPolicy"), &spec.dns_policy, &DNS_POLICIES);
    validate_labels(v, &path.child("nodeSelector"), &spec.node_selector);
    if let Some(context) = spec.security_context.as_deref() {
        validate_pod_security_context(v, &path.child("securityContext"), spec, context, options);
    }
}

fn validate_scheduling(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodSpec, options: &PodOptions) {
    if let Some(affinity) = spec.affinity.as_deref() {
        validate_affinity(v, &path.child("affinity"), affinity, options);
    }
    validate_dns_config(v, &path.child("dnsConfig"), spec.dns_config.as_deref(), &spec.dns_policy);
    let gates = path.child("readinessGates");
    for (index, gate) in spec.readiness_gates.iter().enumerate() {
        let path = gates.index(index);
        let path = path.child("conditionType");
        v.malformed(&path, &gate.condition_type, format::is_qualified_name(&gate.condition_type));
    }
    validate_scheduling_gates(v, &path.child("schedulingGates"), &spec.scheduling_gates);
    let spreads = &spec.topology_spread_constraints;
    validate_spread_constraints(v, &path.child("topologySpreadConstraints"), spreads, options);
}

/// What the pod shares with its node.
fn validate_host(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodSpec, options: &PodOptions) {
    validate_host_processes(v, path, spec);
    if spec.host_users == Some(false) {
        validate_own_users(v, path, spec, options);
    }
    if let Some(name) = &spec.hostname_override {
        validate_hostname_override(v, &path.child("hostnameOverride"), spec, name);
    }
}

fn validate_names(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodSpec) {
    v.malformed_name(&path.child("serviceAccountName"), &spec.service_account_name, NameRule::Dns1123Subdomain, false);
    v.malformed_name(&path.child("nodeName"), &spec.node_name, NameRule::Dns1123Subdomain, false);
    if let Some(seconds) = spec.active_deadline_seconds {
        for message in format::is_in_range(seconds, 1, i64::from(i32::MAX)) {
            v.invalid(&path.child("activeDeadlineSeconds"), seconds, message);
        }
    }
    v.malformed_name(&path.child("hostname"), &spec.hostname, NameRule::Dns1123Label, false);
    v.malformed_name(&path.child("subdomain"), &spec.subdomain, NameRule::Dns1123Label, false);
}

fn validate_rest(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodSpec, options: &PodOptions) {
    validate_tolerations(v, &path.child("tolerations"), &spec.tolerations, options.compare_tolerations);
    validate_host_aliases(v, &path.child("hostAliases"), &spec.host_aliases);
    v.malformed_name(&path.child("priorityClassName"), &spec.priority_class_name, NameRule::Dns1123Subdomain, false);
    if let Some(name) = &spec.runtime_class_name {
        v.name(&path.child("runtimeClassName"), name, NameRule::Dns1123Subdomain);
    }
    if let Some(policy) = &spec.preemption_policy {
        v.required_one_of(&path.child("preemptionPolicy"), policy, &PREEMPTION_POLICIES);
    }
    validate_overhead(v, &path.child("overhead"), &spec.overhead, options);
    match spec.os.as_deref().map(|os| os.name.as_str()) {
        None => {}
        Some("") => v.required(&path.child("os").child("name"), ""),
        Some("linux") => refuse_windows_options(v, path, spec),
        Some("windows") => refuse_linux_fields(v, path, spec),
        Some(unknown) => v.not_supported(&path.child("os"), BadValue::json_string(unknown), &SYSTEMS),
    }
    if let Some(group) = spec.scheduling_group.as_deref() {
        validate_scheduling_group(v, &path.child("schedulingGroup"), group);
    }
    validate_files_of_variables(v, path, spec);
}

/// `validatePodResourceClaims`
fn validate_claims(v: &mut Validation<'_>, path: &Path<'_>, claims: &[PodResourceClaim], meta: Option<&ObjectMeta>) {
    let is_static = meta.is_some_and(|meta| meta.annotations.contains_key(MIRROR));
    let mut names = BTreeSet::new();
    for (index, claim) in claims.iter().enumerate() {
        if is_static {
            v.forbidden(&Path::new(""), "static pods do not support resource claims");
            continue;
        }
        let path = path.index(index);
        let name = path.child("name");
        if claim.name.is_empty() {
            v.required(&name, "");
        } else if names.insert(&claim.name) {
            v.name(&name, &claim.name, NameRule::Dns1123Label);
        } else {
            v.duplicate(&name, &claim.name);
        }
        validate_claim_source(v, &path, claim);
    }
}

fn validate_claim_source(v: &mut Validation<'_>, path: &Path<'_>, claim: &PodResourceClaim) {
    let (named, template) = (&claim.resource_claim_name, &claim.resource_claim_template_name);
    if named.is_some() && template.is_some() {
        let detail = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
        v.invalid(path, internal_value(claim), detail);
    }
    if named.is_none() && template.is_none() {
        let detail = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`";
        v.invalid(path, internal_value(claim), detail);
    }
    for (field, name) in [("resourceClaimName", named), ("resourceClaimTemplateName", template)] {
        if let Some(name) = name {
            v.name(&path.child(field), name, NameRule::Dns1123Subdomain);
        }
    }
}

/// `validatePodHostNetworkDeps`: in the node's network a port is the node's too; templates may leave that to the pod's defaults.
fn validate_ports_of_host(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodSpec, options: &PodOptions) {
    for (index, container) in spec.containers.iter().enumerate().filter(|_| spec.host_network) {
        let path = path.index(index);
        let path = path.child("ports");
        for (index, port) in container.ports.iter().enumerate() {
            if (options.is_pod || port.host_port != 0) && port.host_port != port.container_port {
                let detail = "must match `containerPort` when `hostNetwork` is true";
                v.invalid(&path.index(index).child("hostPort"), port.host_port, detail);
            }
        }
    }
}

/// `validateSchedulingGates`
fn validate_scheduling_gates(v: &mut Validation<'_>, path: &Path<'_>, gates: &[PodSchedulingGate]) {
    let mut seen = BTreeSet::new();
    for (index, gate) in gates.iter().enumerate() {
        let path = path.index(index);
        v.malformed(&path, &gate.name, format::is_qualified_name(&gate.name));
        if !seen.insert(&gate.name) {
            v.duplicate(&path, &gate.name);
        }
    }
}

/// `validateHostUsers`: what users of one's own do not go with. Some names are Go's.
fn validate_own_users(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodSpec, options: &PodOptions) {
    for (field, there) in [
        ("hostNetwork", spec.host_network && !options.user_namespaces_in_host_network),
        ("HostPID", spec.host_pid),
        ("HostIPC", spec.host_ipc),
    ] {
        if there {
            v.forbidden(&path.child(field), OWN_USERS);
        }
    }
    if options.allow_user_namespaces_with_devices {
        return;
    }
    for_each_container(spec, path, |path, container| {
        if !container.volume_devices.is_empty() {
            v.forbidden(&path.child("volumeDevices"), OWN_USERS);
        }
    });
}

/// `validatePodHostName`
fn validate_hostname_override(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodSpec, name: &str) {
    if spec.set_hostname_as_fqdn == Some(true) {
        v.forbidden(path, "may not be specified when setHostnameAsFQDN is true");
    }
    if spec.host_network {
        v.forbidden(path, "may not be specified when hostNetwork is true");
    }
    if name.len() > MAX_HOSTNAME {
        v.too_long(path, MAX_HOSTNAME);
    }
    v.name(path, name, NameRule::Dns1123Subdomain);
}

/// `validateSchedulingGroup`
fn validate_scheduling_group(v: &mut Validation<'_>, path: &Path<'_>, group: &PodSchedulingGroup) {
    let path = path.child("podGroupName");
    match &group.pod_group_name {
        None => v.invalid(&path, BadValue::None, "must specify one of: `podGroupName`"),
        Some(name) => v.name(&path, name, NameRule::Dns1123Subdomain),
    }
}

/// Variables can be read from files of empty directories only (`validateFileKeyRefVolumes`).
fn validate_files_of_variables(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodSpec) {
    for_each_container(spec, path, |path, container| {
        for (index, variable) in container.env.iter().enumerate() {
            let file = variable.value_from.as_deref().and_then(|from| from.file_key_ref.as_deref());
            let Some(name) = file.map(|file| file.volume_name.as_str()) else { continue };
            let path = path.child("env");
            let path = path.index(index);
            let path = path.child("valueFrom");
            let path = path.child("fileKeyRef");
            let path = path.child("volumeName");
            match spec.volumes.iter().rfind(|volume| volume.name == name) {
                None => v.not_found(&path, name),
                Some(volume) if volume.volume_source.empty_dir.is_none() => {
                    v.invalid(&path, name, "referenced volume must be of type emptyDir");
                }
                Some(_) => {}
            }
        }
    });
}
