//! Containers of every sort.

use std::collections::BTreeSet;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{self, NameRule};
use machinery::hooks::Validation;

use super::claim_spec::refuse_fields;
use super::container_restart::{validate_init_restart_policy, validate_restart_policy};
use super::env::{validate_env, validate_env_from};
use super::mounts::{validate_devices, validate_mounts};
use super::options::PodOptions;
use super::ports::PROTOCOLS;
use super::probe::{Probes, validate_lifecycle};
use super::resources::validate_container_resources;
use super::security_context::validate_security_context;
use super::visit::AnyContainer;
use super::volume::Volumes;
use generated::core::v1::{Container, ContainerPort, ContainerResizePolicy, EphemeralContainer, PodSpec};

const MESSAGE_POLICIES: [&str; 2] = ["File", "FallbackToLogsOnError"];
const PULL_POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];
const RESIZABLE: [&str; 2] = ["cpu", "memory"];
const RESIZE_POLICIES: [&str; 2] = ["NotRequired", "RestartContainer"];
const NOT_FOR_INIT: &str = "may not be set for init containers without restartPolicy=Always";
const NOT_FOR_EPHEMERAL: &str = "cannot be set for an Ephemeral Container";

/// What ephemeral containers may say.
#[rustfmt::skip]
const EPHEMERAL_FIELDS: [&str; 16] = [
    "name", "image", "command", "args", "workingDir", "envFrom", "env", "volumeMounts", "volumeDevices", "terminationMessagePath",
    "terminationMessagePolicy", "imagePullPolicy", "securityContext", "stdin", "stdinOnce", "tty",
];

/// The pod around the containers.
pub(super) struct Surroundings<'s> {
    pub spec: &'s PodSpec,
    pub volumes: Volumes<'s>,
    /// The names that the pod gives its resource claims.
    pub claims: BTreeSet<&'s str>,
    pub options: &'s PodOptions,
}

impl Surroundings<'_> {
    /// `validateContainers`
    pub fn validate_containers(&self, v: &mut Validation<'_>, path: &Path<'_>) {
        let containers = &self.spec.containers;
        if containers.is_empty() {
            return v.required(path, "");
        }
        let mut names = BTreeSet::new();
        for (index, container) in containers.iter().enumerate() {
            let path = path.index(index);
            self.validate_common(v, &path, container.into());
            if !names.insert(&container.name) {
                v.duplicate(&path.child("name"), &container.name);
            }
            self.validate_lifecycle(v, &path, container);
            if self.options.container_restart_rules {
                let rules = &container.restart_policy_rules;
                validate_restart_policy(v, &path, container.restart_policy.as_deref(), rules, self.options);
            } else if container.restart_policy.is_some() {
                v.forbidden(&path.child("restartPolicy"), "may not be set for non-init containers");
            }
        }
        validate_host_ports(v, path, containers);
    }

    /// `validateInitContainers`
    pub fn validate_init_containers(&self, v: &mut Validation<'_>, path: &Path<'_>) {
        let mut names: BTreeSet<&str> = self.spec.containers.iter().map(|container| container.name.as_str()).collect();
        for (index, container) in self.spec.init_containers.iter().enumerate() {
            let entry = path.index(index);
            self.validate_common(v, &entry, container.into());
            validate_init_restart_policy(v, &entry, container, self.options);
            if names.contains(container.name.as_str()) {
                v.duplicate(&entry.child("name"), &container.name);
            } else if !container.name.is_empty() {
                names.insert(&container.name);
            }
            // They run one by one, so only a container's own ports can be in each other's way.
            validate_host_ports(v, path, std::slice::from_ref(container));
            if is_sidecar(container) {
                self.validate_lifecycle(v, &entry, container);
            } else {
                refuse_lifecycle(v, &entry, container);
                self.validate_init_resize_policy(v, &entry.child("resizePolicy"), container);
            }
        }
    }

    /// Init containers that end are not restarted to be resized.
    fn validate_init_resize_policy(&self, v: &mut Validation<'_>, path: &Path<'_>, container: &Container) {
        if self.options.allow_init_resize_restarts {
            return;
        }
        for (index, policy) in container.resize_policy.iter().enumerate() {
            if policy.restart_policy == "RestartContainer" {
                let value = BadValue::json_string(&policy.restart_policy);
                let detail = "must not be 'RestartContainer' for non-sidecar init containers";
                v.invalid(&path.index(index).child("restartPolicy"), value, detail);
            }
        }
    }

    fn validate_lifecycle(&self, v: &mut Validation<'_>, path: &Path<'_>, container: &Container) {
        if let Some(lifecycle) = container.lifecycle.as_deref() {
            let grace_period = self.spec.termination_grace_period_seconds;
            validate_lifecycle(v, &path.child("lifecycle"), lifecycle, grace_period, self.spec.os.as_deref());
        }
        let probes = Probes {
            liveness: container.liveness_probe.as_deref(),
            readiness: container.readiness_probe.as_deref(),
            startup: container.startup_probe.as_deref(),
        };
        probes.validate(v, path);
    }

    /// `validateEphemeralContainers`
    pub fn validate_ephemeral_containers(&self, v: &mut Validation<'_>, path: &Path<'_>) {
        let PodSpec { containers, init_containers, ephemeral_containers, .. } = self.spec;
        let others: BTreeSet<&str> = containers.iter().chain(init_containers).map(|c| c.name.as_str()).collect();
        let mut names = others.clone();
        for (index, container) in ephemeral_containers.iter().enumerate() {
            let path = path.index(index);
            let common = &container.ephemeral_container_common;
            self.validate_common(v, &path, common.into());
            validate_image_of_pod(v, &path.child("image"), &common.image);
            if !names.insert(&common.name) {
                v.duplicate(&path.child("name"), &common.name);
            }
            let target = container.target_container_name.as_str();
            if !target.is_empty() && !others.contains(target) {
                v.not_found(&path.child("targetContainerName"), target);
            }
            validate_ephemeral(v, &path, container);
        }
    }

    /// `validateContainerCommon`
    fn validate_common(&self, v: &mut Validation<'_>, path: &Path<'_>, container: AnyContainer<'_>) {
        let (c, options) = (container, self.options);
        if c.name.is_empty() {
            v.required(&path.child("name"), "");
        } else {
            v.name(&path.child("name"), c.name, NameRule::Dns1123Label);
        }
        v.filled(&path.child("image"), c.image);
        v.required_one_of(&path.child("terminationMessagePolicy"), c.termination_message_policy, &MESSAGE_POLICIES);
        validate_ports(v, &path.child("ports"), c.ports);
        validate_env(v, &path.child("env"), c.env, options);
        validate_env_from(v, &path.child("envFrom"), c.env_from);
        let privileged = c.security_context.is_some_and(|context| context.privileged == Some(true));
        let mounts = path.child("volumeMounts");
        validate_mounts(v, &mounts, c.volume_mounts, c.volume_devices, &self.volumes, privileged);
        validate_devices(v, &path.child("volumeDevices"), c.volume_devices, c.volume_mounts, &self.volumes);
        validate_pull_policy(v, &path.child("imagePullPolicy"), c.image_pull_policy);
        validate_container_resources(v, &path.child("resources"), c.resources, &self.claims, options);
        validate_resize_policy(v, &path.child("resizePolicy"), c.resize_policy, &self.spec.restart_policy);
        if let Some(context) = c.security_context {
            let host_users = self.spec.host_users.unwrap_or(true);
            validate_security_context(v, &path.child("securityContext"), context, host_users);
        }
    }
}

/// Whether an init container runs on beside the others.
pub(super) fn is_sidecar(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some("Always")
}

fn refuse_lifecycle(v: &mut Validation<'_>, path: &Path<'_>, container: &Container) {
    for (field, there) in [
        ("lifecycle", container.lifecycle.is_some()),
        ("livenessProbe", container.liveness_probe.is_some()),
        ("readinessProbe", container.readiness_probe.is_some()),
        ("startupProbe", container.startup_probe.is_some()),
    ] {
        if there {
            v.forbidden(&path.child(field), NOT_FOR_INIT);
        }
    }
}

/// What only ephemeral containers are asked.
fn validate_ephemeral(v: &mut Validation<'_>, path: &Path<'_>, container: &EphemeralContainer) {
    let common = &container.ephemeral_container_common;
    refuse_fields(v, path, common, &EPHEMERAL_FIELDS, NOT_FOR_EPHEMERAL);
    let mounts = path.child("volumeMounts");
    for (index, mount) in common.volume_mounts.iter().enumerate() {
        for (field, sub_path) in [("subPath", &mount.sub_path), ("subPathExpr", &mount.sub_path_expr)] {
            if !sub_path.is_empty() {
                v.forbidden(&mounts.index(index).child(field), NOT_FOR_EPHEMERAL);
            }
        }
    }
}

/// Images of pods, not of templates, must not be padded (`validateContainerOnlyForPod`).
pub(super) fn validate_image_of_pod(v: &mut Validation<'_>, path: &Path<'_>, image: &str) {
    if image.trim().len() != image.len() {
        v.invalid(path, image, "must not have leading or trailing whitespace");
    }
}

/// `validatePullPolicy`
pub(super) fn validate_pull_policy(v: &mut Validation<'_>, path: &Path<'_>, policy: &str) {
    v.required_one_of(path, policy, &PULL_POLICIES);
}

/// `validateContainerPorts`
fn validate_ports(v: &mut Validation<'_>, path: &Path<'_>, ports: &[ContainerPort]) {
    let mut names = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let path = path.index(index);
        if !port.name.is_empty() {
            let messages = format::is_valid_port_name(&port.name);
            if messages.is_empty() && !names.insert(&port.name) {
                v.duplicate(&path.child("name"), &port.name);
            }
            v.malformed(&path.child("name"), &port.name, messages);
        }
        if port.container_port == 0 {
            v.required(&path.child("containerPort"), "");
        }
        for (field, number) in [("containerPort", port.container_port), ("hostPort", port.host_port)] {
            for message in format::is_valid_port_num(i64::from(number)).into_iter().filter(|_| number != 0) {
                v.invalid(&path.child(field), number, message);
            }
        }
        v.required_one_of(&path.child("protocol"), &port.protocol, &PROTOCOLS);
    }
}

/// Ports of the node that more than one container wants (`checkHostPortConflicts`).
fn validate_host_ports(v: &mut Validation<'_>, path: &Path<'_>, containers: &[Container]) {
    let mut taken = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        let (path, ports) = (path.index(index), container.ports.iter().enumerate());
        for (index, port) in ports.filter(|(_, port)| port.host_port != 0) {
            let wanted = format!("{}/{}/{}", port.protocol, port.host_ip, port.host_port);
            if !taken.contains(&wanted) {
                taken.insert(wanted);
            } else {
                v.duplicate(&path.child("ports").index(index).child("hostPort"), wanted);
            }
        }
    }
}

/// `validateResizePolicy`; only repeated resources are reported with an index.
fn validate_resize_policy(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    policies: &[ContainerResizePolicy],
    pod_restart_policy: &str,
) {
    let mut resources = BTreeSet::new();
    for (index, policy) in policies.iter().enumerate() {
        let (resource, restart) = (policy.resource_name.as_str(), policy.restart_policy.as_str());
        if !resources.insert(resource) {
            v.duplicate(&path.index(index), BadValue::json_string(resource));
        }
        v.required_one_of(path, resource, &RESIZABLE);
        v.required_one_of(path, restart, &RESIZE_POLICIES);
        if pod_restart_policy == "Never" && restart != "NotRequired" {
            let detail = "must be 'NotRequired' when `restartPolicy` is 'Never'";
            v.invalid(path, BadValue::json_string(restart), detail);
        }
    }
}
