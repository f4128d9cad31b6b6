//! The checks of the restricted level beyond the baseline.

use generated::core::v1::Volume;

use super::baseline::{proc_mount, seccomp};
use super::check::{CheckPodFn, PodSecurityCheck};
use super::checked_pod::{CheckedPod, Container};
use super::finding::{Finding, Values, containers, finding, named, plural, quoted, setters};

const fn check(id: &'static str, versions: &'static [(u32, CheckPodFn)], replaces: &'static str) -> PodSecurityCheck {
    PodSecurityCheck { id, versions, replaces }
}

pub const CHECKS: &[PodSecurityCheck] = &[
    check("allowPrivilegeEscalation", &[(8, privilege_escalation), (25, |s| off_windows(s, privilege_escalation))], ""),
    check(
        "capabilities_restricted",
        &[(22, capabilities), (25, |s| off_windows(s, capabilities))],
        "capabilities_baseline",
    ),
    check("procMount_restricted", &[(35, proc_mount)], "procMount"),
    check("restrictedVolumes", &[(0, volumes)], "hostPathVolumes"),
    check("runAsNonRoot", &[(0, run_as_non_root), (35, |s| in_host_users(s, run_as_non_root))], ""),
    check("runAsUser", &[(23, run_as_user), (35, |s| in_host_users(s, run_as_user))], ""),
    check(
        "seccompProfile_restricted",
        &[(19, seccomp_required), (25, |s| off_windows(s, seccomp_required))],
        "seccompProfile_baseline",
    ),
];

fn off_windows(subject: &CheckedPod<'_>, run: CheckPodFn) -> Option<Finding> {
    if subject.runs_on_windows() { None } else { run(subject) }
}

fn in_host_users(subject: &CheckedPod<'_>, run: CheckPodFn) -> Option<Finding> {
    if subject.has_user_namespace() { None } else { run(subject) }
}

fn privilege_escalation(subject: &CheckedPod<'_>) -> Option<Finding> {
    let names = named(subject, |c| c.security.and_then(|s| s.allow_privilege_escalation) != Some(false));
    if names.is_empty() {
        return None;
    }
    let detail = format!("{} must set securityContext.allowPrivilegeEscalation=false", containers(&names));
    finding("allowPrivilegeEscalation != false", detail)
}

fn capabilities(subject: &CheckedPod<'_>) -> Option<Finding> {
    let drops_all = |c: &Container<'_>| {
        c.security.and_then(|s| s.capabilities.as_ref()).is_some_and(|c| c.drop.iter().any(|name| name == "ALL"))
    };
    let added = |c: &Container<'_>| -> Vec<String> {
        let added = c.security.and_then(|s| s.capabilities.as_ref()).map(|c| c.add.clone()).unwrap_or_default();
        added.into_iter().filter(|name| name != "NET_BIND_SERVICE").collect()
    };
    let (keeping, adding) = (named(subject, |c| !drops_all(c)), named(subject, |c| !added(c).is_empty()));
    let mut detail = Vec::new();
    if !keeping.is_empty() {
        detail.push(format!("{} must set securityContext.capabilities.drop=[\"ALL\"]", containers(&keeping)));
    }
    if !adding.is_empty() {
        let values = quoted(subject.containers.iter().flat_map(added).collect::<Values>());
        detail.push(format!("{} must not include {values} in securityContext.capabilities.add", containers(&adding)));
    }
    if detail.is_empty() { None } else { finding("unrestricted capabilities", detail.join("; ")) }
}

fn volumes(subject: &CheckedPod<'_>) -> Option<Finding> {
    let bad: Vec<(&str, &str)> =
        subject.spec.volumes.iter().filter_map(|v| restricted_type(v).map(|kind| (v.name.as_str(), kind))).collect();
    if bad.is_empty() {
        return None;
    }
    let kinds: Values = bad.iter().map(|(_, kind)| (*kind).to_owned()).collect();
    let what = plural(kinds.len(), "restricted volume type", "restricted volume types");
    let names = format!("{} {}", plural(bad.len(), "volume", "volumes"), quoted(bad.iter().map(|(name, _)| name)));
    let uses = plural(bad.len(), "uses", "use");
    finding("restricted volume types", format!("{names} {uses} {what} {}", quoted(kinds)))
}

/// Returns the type of a volume if it is not allowed.
fn restricted_type(volume: &Volume) -> Option<&'static str> {
    let source = &volume.volume_source;
    let allowed = source.config_map.is_some()
        || source.csi.is_some()
        || source.downward_api.is_some()
        || source.empty_dir.is_some()
        || source.ephemeral.is_some()
        || source.image.is_some()
        || source.persistent_volume_claim.is_some()
        || source.projected.is_some()
        || source.secret.is_some();
    if allowed {
        return None;
    }
    let types = [
        (source.host_path.is_some(), "hostPath"),
        (source.gce_persistent_disk.is_some(), "gcePersistentDisk"),
        (source.aws_elastic_block_store.is_some(), "awsElasticBlockStore"),
        (source.git_repo.is_some(), "gitRepo"),
        (source.nfs.is_some(), "nfs"),
        (source.iscsi.is_some(), "iscsi"),
        (source.glusterfs.is_some(), "glusterfs"),
        (source.rbd.is_some(), "rbd"),
        (source.flex_volume.is_some(), "flexVolume"),
        (source.cinder.is_some(), "cinder"),
        (source.cephfs.is_some(), "cephfs"),
        (source.flocker.is_some(), "flocker"),
        (source.fc.is_some(), "fc"),
        (source.azure_file.is_some(), "azureFile"),
        (source.vsphere_volume.is_some(), "vsphereVolume"),
        (source.quobyte.is_some(), "quobyte"),
        (source.azure_disk.is_some(), "azureDisk"),
        (source.photon_persistent_disk.is_some(), "photonPersistentDisk"),
        (source.portworx_volume.is_some(), "portworxVolume"),
        (source.scale_io.is_some(), "scaleIO"),
        (source.storageos.is_some(), "storageos"),
    ];
    Some(types.into_iter().find(|(is, _)| *is).map_or("unknown", |(_, kind)| kind))
}

fn run_as_non_root(subject: &CheckedPod<'_>) -> Option<Finding> {
    const REASON: &str = "runAsNonRoot != true";
    let pod = subject.spec.security_context.as_ref().and_then(|s| s.run_as_non_root);
    let of = |c: &Container<'_>| c.security.and_then(|s| s.run_as_non_root);
    let setter_names = setters(pod == Some(false), &named(subject, |c| of(c) == Some(false)));
    if !setter_names.is_empty() {
        return finding(
            REASON,
            format!("{} must not set securityContext.runAsNonRoot=false", setter_names.join(" and ")),
        );
    }
    let unset = if pod == Some(true) { Vec::new() } else { named(subject, |c| of(c).is_none()) };
    if unset.is_empty() {
        return None;
    }
    finding(REASON, format!("pod or {} must set securityContext.runAsNonRoot=true", containers(&unset)))
}

fn run_as_user(subject: &CheckedPod<'_>) -> Option<Finding> {
    let pod = subject.spec.security_context.as_ref().and_then(|s| s.run_as_user);
    let names = named(subject, |c| c.security.and_then(|s| s.run_as_user) == Some(0));
    let setter_names = setters(pod == Some(0), &names);
    if setter_names.is_empty() {
        None
    } else {
        finding("runAsUser=0", format!("{} must not set runAsUser=0", setter_names.join(" and ")))
    }
}

/// Like the baseline check, and requires that a profile is set.
fn seccomp_required(subject: &CheckedPod<'_>) -> Option<Finding> {
    let forbidden = seccomp(subject);
    let pod = subject.spec.security_context.as_ref().is_some_and(|s| s.seccomp_profile.is_some());
    let unset = named(subject, |c| !pod && c.security.is_none_or(|s| s.seccomp_profile.is_none()));
    if forbidden.is_some() || unset.is_empty() {
        return forbidden;
    }
    let detail = format!(
        "pod or {} must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\"",
        containers(&unset)
    );
    finding("seccompProfile", detail)
}
