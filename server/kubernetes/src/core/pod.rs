//! Defaults of pods and of the structs in them.

use machinery::reflect::{Owned, Ref, Struct};

use super::image::default_pull_policy;
use super::meta::labels_from_template;
use super::pod_resources;
use super::resources::round_up;
use generated::core::v1::{
    Container, ContainerStatus, EmptyDirVolumeSource, EphemeralContainer, Pod, PodLogOptions, PodSpec, PodStatus,
    ReplicationController, Volume, VolumeSource,
};

/// Mirrors `SetDefaults_Container`.
pub fn default_container(container: &mut Container) {
    if container.image_pull_policy.is_empty() {
        container.image_pull_policy = default_pull_policy(&container.image);
    }
}

/// Mirrors `SetDefaults_EphemeralContainer`.
pub fn default_ephemeral_container(container: &mut EphemeralContainer) {
    let common = &mut container.ephemeral_container_common;
    if common.image_pull_policy.is_empty() {
        common.image_pull_policy = default_pull_policy(&common.image);
    }
}

/// Rounds the allocated resources of a container (`SetDefaults_ResourceList`).
pub fn default_container_status(status: &mut ContainerStatus) {
    round_up(&mut status.allocated_resources);
}

/// Mirrors `SetDefaults_Pod`: defaults that pods have and pod templates do not.
pub fn default_pod(pod: &mut Pod) {
    let spec = &mut pod.spec;
    for container in spec.containers.iter_mut().chain(&mut spec.init_containers) {
        let resources = &mut container.resources;
        pod_resources::fill(&mut resources.requests, &resources.limits);
    }
    pod_resources::default_pod_level(spec);
    if spec.host_network {
        let ports = spec.containers.iter_mut().chain(&mut spec.init_containers).flat_map(|c| &mut c.ports);
        for port in ports.filter(|p| p.host_port == 0) {
            port.host_port = port.container_port;
        }
    }
}

/// `stream` has a default only with the feature gate PodLogsQuerySplitStreams, which is alpha.
pub fn default_pod_log_options(_: &mut PodLogOptions) {}

/// Rounds the overhead of the pod (`SetDefaults_ResourceList`).
pub fn default_pod_spec(spec: &mut PodSpec) {
    round_up(&mut spec.overhead);
}

/// Rounds the allocated resources of the pod (`SetDefaults_ResourceList`).
pub fn default_pod_status(status: &mut PodStatus) {
    round_up(&mut status.allocated_resources);
}

/// Mirrors `SetDefaults_ReplicationController`.
pub fn default_replication_controller(controller: &mut ReplicationController) {
    let Some(template) = &controller.spec.template else { return };
    labels_from_template(&mut controller.spec.selector, &template.metadata.labels);
    labels_from_template(&mut controller.metadata.labels, &template.metadata.labels);
}

/// Mirrors `SetDefaults_Volume`: a volume without a source is an empty directory.
pub fn default_volume(volume: &mut Volume) {
    let source = &mut volume.volume_source;
    if Ref::of(source) == Owned::new(VolumeSource::def()).as_ref() {
        source.empty_dir = Some(Box::<EmptyDirVolumeSource>::default());
    }
    if let Some(image) = source.image.as_mut().filter(|image| image.pull_policy.is_empty()) {
        image.pull_policy = default_pull_policy(&image.reference);
    }
}
