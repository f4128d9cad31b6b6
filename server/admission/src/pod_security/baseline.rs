//! The checks of the baseline level, in the order of their findings.

use generated::core::v1::{LifecycleHandler, Probe, SELinuxOptions, proc_mount_type, seccomp_profile_type};

use super::check::{CheckPodFn, PodSecurityCheck};
use super::checked_pod::CheckedPod;
use super::finding::{Finding, Values, containers, finding, named, plural, quoted, setters};

const fn check(id: &'static str, versions: &'static [(u32, CheckPodFn)]) -> PodSecurityCheck {
    PodSecurityCheck { id, versions, replaces: "" }
}

pub const CHECKS: &[PodSecurityCheck] = &[
    check("appArmorProfile", &[(0, app_armor)]),
    check("capabilities_baseline", &[(0, capabilities)]),
    check("hostNamespaces", &[(0, host_namespaces)]),
    check("hostPathVolumes", &[(0, host_path_volumes)]),
    check("hostPorts", &[(0, host_ports)]),
    check("hostProbesAndHostLifecycle", &[(34, hosts_of_probes)]),
    check("privileged", &[(0, privileged)]),
    check("procMount", &[(0, proc_mount), (35, |s| if s.has_user_namespace() { None } else { proc_mount(s) })]),
    check("seLinuxOptions", &[(0, |s| se_linux(s, &SE_LINUX_TYPES[..4])), (31, |s| se_linux(s, &SE_LINUX_TYPES))]),
    check("seccompProfile_baseline", &[(0, seccomp_annotations), (19, seccomp)]),
    check(
        "sysctls",
        &[
            (0, |s| sysctls(s, &SYSCTLS[..5])),
            (27, |s| sysctls(s, &SYSCTLS[..6])),
            (29, |s| sysctls(s, &SYSCTLS[..10])),
            (32, |s| sysctls(s, &SYSCTLS)),
        ],
    ),
    check("windowsHostProcess", &[(0, host_process)]),
];

const CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];
const SE_LINUX_TYPES: [&str; 5] = ["", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"];
/// Oldest first, because releases only append.
const SYSCTLS: [&str; 12] = [
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
];
const APP_ARMOR_ANNOTATION: &str = "container.apparmor.security.beta.kubernetes.io/";
const SECCOMP_POD_ANNOTATION: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_ANNOTATION: &str = "container.seccomp.security.alpha.kubernetes.io/";

fn app_armor(subject: &CheckedPod<'_>) -> Option<Finding> {
    let is_bad = |kind: &str| ![seccomp_profile_type::RUNTIME_DEFAULT, seccomp_profile_type::LOCALHOST].contains(&kind);
    let mut values = Values::new();
    let pod =
        subject.spec.security_context.as_ref().and_then(|s| s.app_armor_profile.as_ref()).map(|p| p.r#type.as_str());
    let of = |c: &super::checked_pod::Container<'_>| {
        c.security.and_then(|s| s.app_armor_profile.as_ref()).map(|p| p.r#type.clone()).filter(|kind| is_bad(kind))
    };
    values.extend(pod.filter(|kind| is_bad(kind)).map(str::to_owned));
    values.extend(subject.containers.iter().filter_map(of));
    let mut setter_names = setters(pod.is_some_and(is_bad), &named(subject, |c| of(c).is_some()));
    let allowed =
        |profile: &str| profile.is_empty() || profile == "runtime/default" || profile.starts_with("localhost/");
    let annotations: Values = subject
        .annotations
        .iter()
        .filter(|(key, profile)| key.starts_with(APP_ARMOR_ANNOTATION) && !allowed(profile))
        .map(|(key, profile)| format!("{key}={profile:?}"))
        .collect();
    if !annotations.is_empty() {
        setter_names.push(plural(annotations.len(), "annotation", "annotations").to_owned());
    }
    if setter_names.is_empty() {
        return None;
    }
    let values: Vec<String> = values.into_iter().chain(annotations).collect();
    let reason = plural(values.len(), "forbidden AppArmor profile", "forbidden AppArmor profiles");
    finding(reason, format!("{} must not set AppArmor profile type to {}", setter_names.join(" and "), quoted(values)))
}

fn capabilities(subject: &CheckedPod<'_>) -> Option<Finding> {
    let added = |c: &super::checked_pod::Container<'_>| -> Vec<String> {
        let added = c.security.and_then(|s| s.capabilities.as_ref()).map(|c| c.add.clone()).unwrap_or_default();
        added.into_iter().filter(|name| !CAPABILITIES.contains(&name.as_str())).collect()
    };
    let names = named(subject, |c| !added(c).is_empty());
    if names.is_empty() {
        return None;
    }
    let values: Values = subject.containers.iter().flat_map(added).collect();
    let detail =
        format!("{} must not include {} in securityContext.capabilities.add", containers(&names), quoted(values));
    finding("non-default capabilities", detail)
}

fn host_namespaces(subject: &CheckedPod<'_>) -> Option<Finding> {
    let spec = subject.spec;
    let shared =
        [(spec.host_network, "hostNetwork=true"), (spec.host_pid, "hostPID=true"), (spec.host_ipc, "hostIPC=true")];
    let shared: Vec<&str> = shared.into_iter().filter(|(on, _)| *on).map(|(_, text)| text).collect();
    if shared.is_empty() { None } else { finding("host namespaces", shared.join(", ")) }
}

fn host_path_volumes(subject: &CheckedPod<'_>) -> Option<Finding> {
    let volumes = subject.spec.volumes.iter().filter(|v| v.volume_source.host_path.is_some());
    let names: Vec<&str> = volumes.map(|v| v.name.as_str()).collect();
    if names.is_empty() {
        return None;
    }
    finding("hostPath volumes", format!("{} {}", plural(names.len(), "volume", "volumes"), quoted(names)))
}

fn host_ports(subject: &CheckedPod<'_>) -> Option<Finding> {
    let names = named(subject, |c| c.ports.iter().any(|p| p.host_port != 0));
    if names.is_empty() {
        return None;
    }
    let ports = subject.containers.iter().flat_map(|c| c.ports).filter(|p| p.host_port != 0);
    let ports: Values = ports.map(|p| p.host_port.to_string()).collect();
    let uses = plural(names.len(), "uses", "use");
    let what = plural(ports.len(), "hostPort", "hostPorts");
    let ports: Vec<String> = ports.into_iter().collect();
    finding("hostPort", format!("{} {uses} {what} {}", containers(&names), ports.join(", ")))
}

fn hosts_of_probes(subject: &CheckedPod<'_>) -> Option<Finding> {
    let hosts = |c: &super::checked_pod::Container<'_>| -> Values {
        let probes = c.probes.into_iter().flatten().flat_map(hosts_of_probe);
        let handlers = c.lifecycle.into_iter().flat_map(|l| [l.post_start.as_deref(), l.pre_stop.as_deref()]);
        probes.chain(handlers.flatten().flat_map(hosts_of_handler)).filter(|host| !host.is_empty()).collect()
    };
    let mut names = named(subject, |c| !hosts(c).is_empty());
    if names.is_empty() {
        return None;
    }
    names.sort_unstable();
    let all: Values = subject.containers.iter().flat_map(hosts).collect();
    let uses = plural(names.len(), "uses", "use");
    let what = plural(all.len(), "probe or lifecycle host", "probe or lifecycle hosts");
    finding("probe or lifecycle host", format!("{} {uses} {what} {}", containers(&names), quoted(all)))
}

fn hosts_of_probe(probe: &Probe) -> Vec<String> {
    let handler = &probe.handler;
    let http = handler.http_get.as_ref().map(|a| a.host.clone());
    http.into_iter().chain(handler.tcp_socket.as_ref().map(|a| a.host.clone())).collect()
}

fn hosts_of_handler(handler: &LifecycleHandler) -> Vec<String> {
    let http = handler.http_get.as_ref().map(|a| a.host.clone());
    http.into_iter().chain(handler.tcp_socket.as_ref().map(|a| a.host.clone())).collect()
}

fn privileged(subject: &CheckedPod<'_>) -> Option<Finding> {
    let names = named(subject, |c| c.security.is_some_and(|s| s.privileged == Some(true)));
    if names.is_empty() {
        return None;
    }
    finding("privileged", format!("{} must not set securityContext.privileged=true", containers(&names)))
}

pub fn proc_mount(subject: &CheckedPod<'_>) -> Option<Finding> {
    let of = |c: &super::checked_pod::Container<'_>| {
        c.security.and_then(|s| s.proc_mount.clone()).filter(|kind| kind != proc_mount_type::DEFAULT)
    };
    let names = named(subject, |c| of(c).is_some());
    if names.is_empty() {
        return None;
    }
    let values: Values = subject.containers.iter().filter_map(of).collect();
    let detail = format!("{} must not set securityContext.procMount to {}", containers(&names), quoted(values));
    finding("procMount", detail)
}

fn se_linux(subject: &CheckedPod<'_>, types: &[&str]) -> Option<Finding> {
    let bad = |o: &SELinuxOptions| !types.contains(&o.r#type.as_str()) || !o.user.is_empty() || !o.role.is_empty();
    let pod = subject.spec.security_context.as_ref().and_then(|s| s.se_linux_options.as_deref());
    let of_containers = subject.containers.iter().filter_map(|c| c.security?.se_linux_options.as_deref());
    let all: Vec<&SELinuxOptions> = pod.into_iter().chain(of_containers).filter(|o| bad(o)).collect();
    let names = named(subject, |c| c.security.and_then(|s| s.se_linux_options.as_deref()).is_some_and(bad));
    let setter_names = setters(pod.is_some_and(bad), &names);
    if setter_names.is_empty() {
        return None;
    }
    let kinds: Values = all.iter().map(|o| o.r#type.clone()).filter(|kind| !types.contains(&kind.as_str())).collect();
    let mut what = Vec::new();
    if !kinds.is_empty() {
        what.push(format!("{} {}", plural(kinds.len(), "type", "types"), quoted(kinds)));
    }
    if all.iter().any(|o| !o.user.is_empty()) {
        what.push("user may not be set".to_owned());
    }
    if all.iter().any(|o| !o.role.is_empty()) {
        what.push("role may not be set".to_owned());
    }
    let detail =
        format!("{} set forbidden securityContext.seLinuxOptions: {}", setter_names.join(" and "), what.join("; "));
    finding("seLinuxOptions", detail)
}

fn seccomp_annotations(subject: &CheckedPod<'_>) -> Option<Finding> {
    let allowed =
        |value: &str| ["runtime/default", "docker/default"].contains(&value) || value.starts_with("localhost/");
    let of_containers = subject.containers.iter().map(|c| format!("{SECCOMP_ANNOTATION}{}", c.name));
    let wrong: Values = std::iter::once(SECCOMP_POD_ANNOTATION.to_owned())
        .chain(of_containers)
        .filter_map(|key| subject.annotations.get(&key).map(|value| (key, value)))
        .filter(|(_, value)| !allowed(value))
        .map(|(key, value)| format!("{key}={value:?}"))
        .collect();
    if wrong.is_empty() {
        return None;
    }
    let what = plural(wrong.len(), "annotation", "annotations");
    let wrong: Vec<String> = wrong.into_iter().collect();
    finding("seccompProfile", format!("forbidden {what} {}", wrong.join(", ")))
}

pub fn is_bad_seccomp(kind: &str) -> bool {
    ![seccomp_profile_type::LOCALHOST, seccomp_profile_type::RUNTIME_DEFAULT].contains(&kind)
}

/// Finds forbidden seccomp profiles. Unset profiles are allowed.
pub fn seccomp(subject: &CheckedPod<'_>) -> Option<Finding> {
    let pod =
        subject.spec.security_context.as_ref().and_then(|s| s.seccomp_profile.as_ref()).map(|p| p.r#type.as_str());
    let of = |c: &super::checked_pod::Container<'_>| {
        c.security
            .and_then(|s| s.seccomp_profile.as_ref())
            .map(|p| p.r#type.clone())
            .filter(|kind| is_bad_seccomp(kind))
    };
    let setter_names = setters(pod.is_some_and(is_bad_seccomp), &named(subject, |c| of(c).is_some()));
    if setter_names.is_empty() {
        return None;
    }
    let mut values: Values = subject.containers.iter().filter_map(of).collect();
    values.extend(pod.filter(|kind| is_bad_seccomp(kind)).map(str::to_owned));
    let setter_names = setter_names.join(" and ");
    finding(
        "seccompProfile",
        format!("{setter_names} must not set securityContext.seccompProfile.type to {}", quoted(values)),
    )
}

fn sysctls(subject: &CheckedPod<'_>, allowed: &[&str]) -> Option<Finding> {
    let set = subject.spec.security_context.iter().flat_map(|s| &s.sysctls);
    let names: Vec<&str> = set.map(|s| s.name.as_str()).filter(|name| !allowed.contains(name)).collect();
    if names.is_empty() { None } else { finding("forbidden sysctls", names.join(", ")) }
}

fn host_process(subject: &CheckedPod<'_>) -> Option<Finding> {
    let pod = subject.spec.security_context.as_ref().and_then(|s| s.windows_options.as_ref());
    let names = named(subject, |c| {
        c.security.and_then(|s| s.windows_options.as_ref()).is_some_and(|w| w.host_process == Some(true))
    });
    let setter_names = setters(pod.is_some_and(|w| w.host_process == Some(true)), &names);
    if setter_names.is_empty() {
        return None;
    }
    let detail = format!("{} must not set securityContext.windowsOptions.hostProcess=true", setter_names.join(" and "));
    finding("hostProcess", detail)
}
