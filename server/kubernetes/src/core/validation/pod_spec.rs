//! The spec of pods and of their templates.

use std::collections::BTreeSet;

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::options;
use machinery::reflect::Ref;

use super::annotations::MIRROR;
use super::container::Surroundings;
use super::options::PodOptions;
use super::pod_resources::validate_resources_of_pod;
use super::visit::for_each_container;
use super::volume::validate_volumes;
use generated::core::v1::PodSpec;
use generated::meta::v1::ObjectMeta;

/// `ValidatePodSpec`; `meta` is that of the pod, `None` in templates. By hand: containers are checked against the
/// volumes.
pub fn validate_pod_spec(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &PodSpec,
    meta: Option<&ObjectMeta>,
    options: &PodOptions,
) {
    choose_options(v, spec, meta, options);
    let all = Ref::of(spec);
    v.checks(path, all, None);
    let pod = meta.map_or("", |meta| meta.name.as_str());
    let volumes = validate_volumes(v, &path.child("volumes"), &spec.volumes, pod);
    let claims: BTreeSet<&str> =
        spec.resource_claims.iter().map(|c| c.name.as_str()).filter(|n| !n.is_empty()).collect();
    v.checks_of("claims", path, all, None);
    let surroundings = Surroundings { spec, volumes, claims, options };
    surroundings.validate_containers(v, &path.child("containers"));
    surroundings.validate_init_containers(v, &path.child("initContainers"));
    surroundings.validate_ephemeral_containers(v, &path.child("ephemeralContainers"));
    if options.pod_level_resources {
        validate_resources_of_pod(v, path, spec, &surroundings.claims);
    }
    v.checks_of("rest", path, all, None);
}

/// What checks of parts of the spec ask about the rest of it.
fn choose_options(v: &mut Validation<'_>, spec: &PodSpec, meta: Option<&ObjectMeta>, options: &PodOptions) {
    options.choose(v);
    v.set_option_to(options::OBJECT_NAME, meta.map(|meta| meta.name.clone()));
    v.set_option_to(options::GRACE_PERIOD, spec.termination_grace_period_seconds.map(|seconds| seconds.to_string()));
    let os = spec.os.as_deref().map(|os| os.name.as_str());
    for (option, is_chosen) in [
        (options::STATIC_POD, meta.is_some_and(|meta| meta.annotations.contains_key(MIRROR))),
        (options::HOST_USERS, spec.host_users != Some(false)),
        (options::NEVER_RESTARTED, spec.restart_policy == "Never"),
        (options::OS_UNKNOWN, os.is_none()),
        (options::OS_LINUX, os == Some("linux")),
        (options::OS_WINDOWS, os == Some("windows")),
    ] {
        v.set_option(option, is_chosen);
    }
}

/// `validatePodHostNetworkDeps`: in the node's network a port is the node's too; templates may leave that to the pod's
/// defaults. By hand: two numbers are compared.
pub fn validate_ports_of_host(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodSpec, _: Option<&PodSpec>) {
    let (path, is_pod) = (path.child("containers"), v.has_option(options::IN_POD));
    for (index, container) in spec.containers.iter().enumerate() {
        let path = path.index(index);
        let path = path.child("ports");
        for (index, port) in container.ports.iter().enumerate() {
            if (is_pod || port.host_port != 0) && port.host_port != port.container_port {
                let detail = "must match `containerPort` when `hostNetwork` is true";
                v.invalid(&path.index(index).child("hostPort"), port.host_port, detail);
            }
        }
    }
}

/// Variables can be read from files of empty directories only (`validateFileKeyRefVolumes`). By hand: volumes are
/// looked up.
pub fn validate_files_of_variables(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodSpec, _: Option<&PodSpec>) {
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
