//! Containers of every sort. By hand: each is checked against its pod, its volumes and the other containers.

use std::collections::BTreeSet;

use machinery::field_path::Path;
use machinery::format::field;
use machinery::hooks::Validation;
use machinery::options;
use machinery::reflect::Ref;

use super::claim_spec::refuse_fields;
use super::container_restart::validate_init_restart_policy;
use super::mounts::{validate_devices, validate_mounts};
use super::options::PodOptions;
use super::resources::validate_container_resources;
use super::visit::AnyContainer;
use super::volume::Volumes;
use generated::core::v1::{Container, EphemeralContainer, PodSpec};

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
            v.checks_of("main", &path, Ref::of(container), None);
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
            let part = if is_sidecar(container) { "sidecar" } else { "once" };
            v.checks_of(part, &entry, Ref::of(container), None);
        }
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
            v.errors.extend(field::trimmed_text(&path.child("image"), &common.image));
            if !names.insert(&common.name) {
                v.duplicate(&path.child("name"), &common.name);
            }
            let target = container.target_container_name.as_str();
            if !target.is_empty() && !others.contains(target) {
                v.not_found(&path.child("targetContainerName"), target);
            }
            refuse_fields(v, &path, common, &EPHEMERAL_FIELDS, NOT_FOR_EPHEMERAL);
            v.checks(&path, Ref::of::<EphemeralContainer>(container), None);
        }
    }

    /// `validateContainerCommon`
    fn validate_common(&self, v: &mut Validation<'_>, path: &Path<'_>, container: AnyContainer<'_>) {
        let (c, all) = (container, container.all);
        v.checks_of("head", path, all, None);
        v.set_option(options::PRIVILEGED, c.security_context.is_some_and(|context| context.privileged == Some(true)));
        validate_mounts(v, &path.child("volumeMounts"), c.volume_mounts, c.volume_devices, &self.volumes);
        validate_devices(v, &path.child("volumeDevices"), c.volume_devices, c.volume_mounts, &self.volumes);
        v.checks_of("policy", path, all, None);
        validate_container_resources(v, &path.child("resources"), c.resources, &self.claims);
        v.checks_of("tail", path, all, None);
    }
}

/// Whether an init container runs on beside the others.
pub(super) fn is_sidecar(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some("Always")
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
