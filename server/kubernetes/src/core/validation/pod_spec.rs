//! Hand-written validation of the spec of pods and pod templates.

use std::collections::BTreeSet;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::{Validation, WriteContext};
use machinery::json_name;
use machinery::options;
use machinery::reflect::Ref;

use super::resources::is_huge_pages;
use super::visit::for_each_container;
use crate::core::internal::internal_value;
use crate::core::pod_resources::aggregate;
use generated::core::v1::{
    AppArmorProfile, Container, ContainerPort, LifecycleHandler, PodDNSConfig, PodSpec, ResourceRequirements,
    SecurityContext, WindowsSecurityContextOptions,
};

const MAX_SEARCH_CHARACTERS: usize = 2048;

/// Whether a profile is valid.
pub(crate) fn is_app_armor_profile(context: &WriteContext, profile: &AppArmorProfile) -> bool {
    let mut errors = Vec::new();
    Validation::new(context, &mut errors).checks(&Path::NONE, Ref::of(profile), None);
    errors.is_empty()
}

/// Reports host ports that more than one container uses (`checkHostPortConflicts`). Hand-written,
/// because messages show three fields in one text.
pub fn validate_host_ports(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodSpec, _: Option<&PodSpec>) {
    validate_ports_of(v, &path.child(json_name!(PodSpec.containers)), &spec.containers);
}

/// The same for an init container, which is checked alone: upstream reports it with index 0.
pub fn validate_own_host_ports(v: &mut Validation<'_>, path: &Path<'_>, container: &Container, _: Option<&Container>) {
    validate_ports_of(v, &path.relative("."), std::slice::from_ref(container));
}

fn validate_ports_of(v: &mut Validation<'_>, path: &Path<'_>, containers: &[Container]) {
    let mut taken = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        let (path, ports) = (path.index(index), container.ports.iter().enumerate());
        for (index, port) in ports.filter(|(_, port)| port.host_port != 0) {
            let wanted = format!("{}/{}/{}", port.protocol, port.host_ip, port.host_port);
            if taken.contains(&wanted) {
                v.duplicate(
                    &path.child(json_name!(Container.ports)).index(index).child(json_name!(ContainerPort.host_port)),
                    wanted,
                );
            } else {
                taken.insert(wanted);
            }
        }
    }
}

/// Checks that variables refer to files only in empty directory volumes (`validateFileKeyRefVolumes`).
/// Hand-written, because the last of several volumes with one name counts.
pub fn validate_files_of_variables(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodSpec, _: Option<&PodSpec>) {
    for_each_container(spec, path, |path, container| {
        for (index, variable) in container.env.iter().enumerate() {
            let file = variable.value_from.as_deref().and_then(|from| from.file_key_ref.as_deref());
            let Some(name) = file.map(|file| file.volume_name.as_str()) else { continue };
            let path = path.child(json_name!(Container.env));
            let path = path.index(index);
            let path = path.child("valueFrom.fileKeyRef.volumeName");
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

/// Compares pod-level resources (KEP-2837) with those of the containers
/// (`validatePodResourceConsistency`). Hand-written, because amounts are added.
pub fn validate_aggregates(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodSpec, _: Option<&PodSpec>) {
    let Some(resources) = spec.resources.as_deref() else { return };
    let path = path.child(json_name!(PodSpec.resources));
    for (list, all, given) in [
        ("requests", aggregate(spec, |r| &r.requests), &resources.requests),
        ("limits", aggregate(spec, |r| &r.limits), &resources.limits),
    ] {
        for (name, needed) in all.into_iter().filter(|(name, _)| list == "requests" || is_huge_pages(name)) {
            if let Some(given) = given.get(&name).filter(|given| needed > **given) {
                let detail = format!("must be greater than or equal to aggregate container {list} of {needed}");
                v.invalid(&path.child(list).key(&name), given.to_string(), detail);
            }
        }
    }
    let path = path.child(json_name!(PodSpec.containers));
    for (index, container) in spec.containers.iter().enumerate() {
        for (name, own) in &container.resources.limits {
            if let Some(given) = resources.limits.get(name).filter(|given| own > *given) {
                let path = path.index(index);
                let path = path.key(name);
                let detail = format!("must be less than or equal to pod limits of {given}");
                v.invalid(&path.child(json_name!(ResourceRequirements.limits)), own.to_string(), detail);
            }
        }
    }
}

/// Validates DNS search paths. Hand-written, because their total length is limited.
pub fn validate_searches(v: &mut Validation<'_>, path: &Path<'_>, config: &PodDNSConfig, _: Option<&PodDNSConfig>) {
    if config.searches.join(" ").len() > MAX_SEARCH_CHARACTERS {
        let detail =
            format!("must not have more than {MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list");
        v.invalid(&path.child(json_name!(PodDNSConfig.searches)), BadValue::strings(&config.searches), detail);
    }
}

/// Validates a sleep action. Hand-written, because the bound is the pod's grace period.
pub fn validate_sleep(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    handler: &LifecycleHandler,
    _: Option<&LifecycleHandler>,
) {
    let period = v.option(options::GRACE_PERIOD).and_then(|period| period.parse::<i64>().ok());
    let seconds = handler.sleep.as_deref().map_or(0, |sleep| sleep.seconds);
    if let Some(period) = period.filter(|period| seconds < 0 || seconds > *period) {
        let detail = format!("must be non-negative and less than terminationGracePeriodSeconds ({period})");
        v.invalid(&path.child(json_name!(LifecycleHandler.sleep)), seconds, detail);
    }
}

/// Validates added capabilities. Hand-written, because upstream reports each occurrence of the
/// capability.
pub fn validate_added_capabilities(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    context: &SecurityContext,
    _: Option<&SecurityContext>,
) {
    let added = context.capabilities.as_deref().map_or(&[][..], |capabilities| &capabilities.add);
    for _ in added.iter().filter(|capability| *capability == "CAP_SYS_ADMIN") {
        let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
        v.invalid(path, internal_value(context), detail);
    }
}

/// Validates Windows host process containers (`validateWindowsHostProcessPod`). Hand-written, because
/// containers are counted.
pub fn validate_host_processes(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodSpec, _: Option<&PodSpec>) {
    let host_process = |options: Option<&WindowsSecurityContextOptions>| options.and_then(|o| o.host_process);
    let of_pod = host_process(spec.security_context.as_deref().and_then(|c| c.windows_options.as_deref()));
    let (mut all, mut of_host) = (0, 0);
    for_each_container(spec, path, |path, container| {
        all += 1;
        let own = host_process(container.security_context.and_then(|c| c.windows_options.as_deref()));
        of_host += usize::from(own.or(of_pod) == Some(true));
        if let (Some(of_pod), Some(own)) = (of_pod, own)
            && of_pod != own
        {
            let path = path.child("securityContext.windowsOptions.hostProcess");
            let detail = format!("pod hostProcess value must be identical if both are specified, was {of_pod}");
            v.invalid(&path, own, detail);
        }
    });
    if of_host == 0 {
        return;
    }
    if of_host != all {
        let detail = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        v.invalid(path, "", detail);
    }
    if !spec.host_network {
        let detail = "hostNetwork must be true if pod contains any hostProcess containers";
        v.invalid(&path.child(json_name!(PodSpec.host_network)), false, detail);
    }
    if !v.context.allow_privileged {
        v.forbidden(path, "hostProcess containers are disallowed by cluster policy");
    }
}
