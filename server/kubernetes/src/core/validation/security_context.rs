//! What containers and pods may do on their node.

use std::collections::BTreeSet;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{is_valid_group_id, is_valid_user_id};
use machinery::hooks::{Context, Validation};

use super::options::PodOptions;
use super::paths::validate_relative_path;
use super::sysctl::{self, HostNamespaces};
use super::windows::validate_windows_options;
use crate::core::internal::internal_value;
use generated::core::v1::{AppArmorProfile, PodSecurityContext, PodSpec, SeccompProfile, SecurityContext};

const PROFILE_TYPES: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];
const PROC_MOUNTS: [&str; 2] = ["Default", "Unmasked"];
const GROUP_CHANGE_POLICIES: [&str; 2] = ["Always", "OnRootMismatch"];
const SUPPLEMENTAL_GROUPS_POLICIES: [&str; 2] = ["Merge", "Strict"];
const LABEL_CHANGE_POLICIES: [&str; 2] = ["MountOption", "Recursive"];
/// Linux' longest path without the terminating zero.
const MAX_PATH: usize = 4095;
const SECCOMP_REFUSAL: &str = "can only be set when seccomp type is Localhost";
const APP_ARMOR_REFUSAL: &str = "can only be set when AppArmor type is Localhost";
const APP_ARMOR_REQUIRED: &str = "must be set when AppArmor type is Localhost";

/// `ValidateSecurityContext`; `host_users`: users in the container are those of the node.
pub(super) fn validate_security_context(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    context: &SecurityContext,
    host_users: bool,
) {
    let privileged = context.privileged == Some(true);
    if privileged && !v.context.allow_privileged {
        v.forbidden(&path.child("privileged"), "disallowed by cluster policy");
    }
    validate_user(v, &path.child("runAsUser"), context.run_as_user);
    validate_group(v, &path.child("runAsGroup"), context.run_as_group);
    if let Some(mount) = context.proc_mount.as_deref() {
        let path = path.child("procMount");
        v.one_of(&path, mount, &PROC_MOUNTS);
        if host_users && mount == "Unmasked" {
            v.invalid(&path, BadValue::json_string(mount), "`hostUsers` must be false to use `Unmasked`");
        }
    }
    validate_seccomp_profile(v, &path.child("seccompProfile"), context.seccomp_profile.as_deref());
    if context.allow_privilege_escalation == Some(false) {
        if privileged {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            v.invalid(path, internal_value(context), detail);
        }
        let added = context.capabilities.as_deref().map_or(&[][..], |capabilities| &capabilities.add);
        for _ in added.iter().filter(|capability| *capability == "CAP_SYS_ADMIN") {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
            v.invalid(path, internal_value(context), detail);
        }
    }
    validate_windows_options(v, &path.child("windowsOptions"), context.windows_options.as_deref());
    validate_app_armor_profile(v, &path.child("appArmorProfile"), context.app_armor_profile.as_deref());
}

/// `validatePodSpecSecurityContext`
pub(super) fn validate_pod_security_context(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &PodSpec,
    context: &PodSecurityContext,
    options: &PodOptions,
) {
    validate_group(v, &path.child("fsGroup"), context.fs_group);
    validate_user(v, &path.child("runAsUser"), context.run_as_user);
    validate_group(v, &path.child("runAsGroup"), context.run_as_group);
    for (index, group) in context.supplemental_groups.iter().enumerate() {
        validate_group(v, &path.child("supplementalGroups").index(index), Some(*group));
    }
    if spec.share_process_namespace == Some(true) && spec.host_pid {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        v.invalid(&path.child("shareProcessNamespace"), true, detail);
    }
    validate_sysctls(v, &path.child("sysctls"), spec, context, options);
    if let Some(policy) = &context.fs_group_change_policy {
        v.one_of(&path.child("fsGroupChangePolicy"), policy, &GROUP_CHANGE_POLICIES);
    }
    validate_seccomp_profile(v, &path.child("seccompProfile"), context.seccomp_profile.as_deref());
    validate_windows_options(v, &path.child("windowsOptions"), context.windows_options.as_deref());
    validate_app_armor_profile(v, &path.child("appArmorProfile"), context.app_armor_profile.as_deref());
    if let Some(policy) = &context.supplemental_groups_policy {
        v.one_of(&path.child("supplementalGroupsPolicy"), policy, &SUPPLEMENTAL_GROUPS_POLICIES);
    }
    if let Some(policy) = &context.se_linux_change_policy {
        let known =
            if options.only_recursive_label_changes { &LABEL_CHANGE_POLICIES[1..] } else { &LABEL_CHANGE_POLICIES };
        v.one_of(&path.child("seLinuxChangePolicy"), policy, known);
    }
}

fn validate_user(v: &mut Validation<'_>, path: &Path<'_>, user: Option<i64>) {
    for (user, message) in user.into_iter().flat_map(|user| is_valid_user_id(user).into_iter().map(move |m| (user, m)))
    {
        v.invalid(path, user, message);
    }
}

fn validate_group(v: &mut Validation<'_>, path: &Path<'_>, group: Option<i64>) {
    for (group, message) in
        group.into_iter().flat_map(|group| is_valid_group_id(group).into_iter().map(move |m| (group, m)))
    {
        v.invalid(path, group, message);
    }
}

/// `validateSeccompProfileField`
fn validate_seccomp_profile(v: &mut Validation<'_>, path: &Path<'_>, profile: Option<&SeccompProfile>) {
    let Some(profile) = profile else { return };
    if profile.r#type.is_empty() {
        v.required(&path.child("type"), "type is required when seccompProfile is set");
    } else {
        v.one_of(&path.child("type"), &profile.r#type, &PROFILE_TYPES);
    }
    let (path, is_local) = (path.child("localhostProfile"), profile.r#type == "Localhost");
    match &profile.localhost_profile {
        None if is_local => v.required(&path, "must be set when seccomp type is Localhost"),
        None => {}
        Some(file) if is_local => validate_relative_path(v, &path, file),
        Some(_) => v.invalid(&path, internal_value(profile), SECCOMP_REFUSAL),
    }
}

/// `ValidateAppArmorProfileField`
fn validate_app_armor_profile(v: &mut Validation<'_>, path: &Path<'_>, profile: Option<&AppArmorProfile>) {
    let Some(profile) = profile else { return };
    let (local, file) = (path.child("localhostProfile"), profile.localhost_profile.as_deref());
    match (profile.r#type.as_str(), file) {
        ("Localhost", None) => v.required(&local, APP_ARMOR_REQUIRED),
        ("Localhost", Some(file)) => validate_app_armor_file(v, &local, file),
        ("RuntimeDefault" | "Unconfined", None) => {}
        ("RuntimeDefault" | "Unconfined", Some(file)) => {
            v.invalid(&local, BadValue::json_string(file), APP_ARMOR_REFUSAL);
        }
        ("", _) => v.required(&path.child("type"), "type is required when appArmorProfile is set"),
        (unknown, _) => v.one_of(&path.child("type"), unknown, &PROFILE_TYPES),
    }
}

/// Whether a profile is as it should be.
pub(crate) fn is_app_armor_profile(context: &Context, profile: &AppArmorProfile) -> bool {
    let mut errors = Vec::new();
    validate_app_armor_profile(&mut Validation::new(context, &mut errors), &Path::NONE, Some(profile));
    errors.is_empty()
}

fn validate_app_armor_file(v: &mut Validation<'_>, path: &Path<'_>, file: &str) {
    if file.trim() != file {
        v.invalid(path, file, "must not be padded with whitespace");
    } else if file.is_empty() {
        v.required(path, APP_ARMOR_REQUIRED);
    }
    if file.len() > MAX_PATH {
        v.too_long(path, MAX_PATH);
    }
}

/// `validateSysctls`
fn validate_sysctls(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &PodSpec,
    context: &PodSecurityContext,
    options: &PodOptions,
) {
    let host = HostNamespaces::of(spec);
    let mut names = BTreeSet::new();
    for (index, sysctl) in context.sysctls.iter().enumerate() {
        let (path, name) = (path.index(index), sysctl.name.as_str());
        let path = path.child("name");
        if name.is_empty() {
            v.required(&path, "");
        } else if !sysctl::is_name(name) {
            v.invalid(&path, name, sysctl::NAME_RULE);
        } else if names.contains(name) {
            v.duplicate(&path, name);
        }
        if let Some(why) = host.refusal(name).filter(|_| !options.allow_sysctls_of_host) {
            v.invalid(&path, name, why);
        }
        names.insert(name);
    }
}
