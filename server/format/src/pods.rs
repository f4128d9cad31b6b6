//! Names in pods: kernel parameters, Windows users, devices, resources, signers and trust bundles.

use std::borrow::Cow;

use super::resource::is_native_resource;
use super::{Messages, NameRule};
use status::field_error::FieldError;
use status::field_path::Path;

const MAX_SYSCTL_NAME: usize = 253;
const SYSCTL_RULE: &str = "must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";

/// Kernel parameters of the IPC namespace, including legacy names.
#[rustfmt::skip]
const SYSCTLS_OF_IPC: [&str; 10] = [
    "kernel.sem", "kernel.shm", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced", "kernel.msg",
    "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni",
];

const MAX_DOMAIN: usize = 256;
const MAX_USER: usize = 104;
const MAX_NET_BIOS: usize = 15;

fn unless(holds: bool, path: &Path<'_>, text: &str, detail: &'static str) -> Vec<FieldError> {
    match holds {
        true => Vec::new(),
        false => vec![FieldError::invalid(path, text, detail)],
    }
}

/// The name of a kernel parameter (upstream `IsValidSysctlName`).
pub fn sysctl_name(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    let is_end = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_segment = |segment: &str| {
        let bytes = segment.as_bytes();
        bytes.first().is_some_and(|c| is_end(*c))
            && bytes.last().is_some_and(|c| is_end(*c))
            && bytes.iter().all(|c| is_end(*c) || matches!(c, b'-' | b'_'))
    };
    unless(name.len() <= MAX_SYSCTL_NAME && name.split(['.', '/']).all(is_segment), path, name, SYSCTL_RULE)
}

/// A kernel parameter that a pod with host network may set (upstream `ValidateHostSysctl`).
pub fn sysctl_beside_network(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    let is_foreign = dotted(name).starts_with("net.");
    unless(!is_foreign, path, name, "may not be specified when 'hostNetwork' is true")
}

/// A kernel parameter that a pod with host IPC may set.
pub fn sysctl_beside_ipc(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    let dotted = dotted(name);
    let plain = dotted.split('*').next().unwrap_or_default();
    let is_foreign = SYSCTLS_OF_IPC.contains(&plain) || plain.starts_with("fs.mqueue.");
    unless(!is_foreign, path, name, "may not be specified when 'hostIPC' is true")
}

/// The name with dots as separators (upstream `NormalizeName`). If a slash is the first separator,
/// slashes and dots are swapped.
fn dotted(name: &str) -> Cow<'_, str> {
    match name.find(['.', '/']).and_then(|first| name[first..].chars().next()) {
        Some('/') => name
            .chars()
            .map(|c| match c {
                '.' => '/',
                '/' => '.',
                c => c,
            })
            .collect(),
        _ => Cow::Borrowed(name),
    }
}

/// `DOMAIN\USER` or `USER`.
pub fn windows_user_name(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    let refusals = refusals_of_user(name).into_iter();
    refusals.map(|detail| FieldError::invalid(path, name, format!("runAsUserName{detail}"))).collect()
}

fn refusals_of_user(name: &str) -> Vec<&'static str> {
    if name.is_empty() {
        return vec![" cannot be an empty string"];
    }
    if name.bytes().any(|c| c.is_ascii_control()) {
        return vec![" cannot contain control characters"];
    }
    let parts: Vec<&str> = name.split('\\').collect();
    let (domain, user) = match parts[..] {
        [user] => (None, user),
        [domain, user] => (Some(domain), user),
        _ => return vec![" cannot contain more than one backslash"],
    };
    let mut out = Vec::new();
    let mut refuse = |wrong: bool, why| {
        if wrong {
            out.push(why);
        }
    };
    refuse(domain.is_some_and(|domain| domain.len() >= MAX_DOMAIN), "'s Domain length must be under 256 characters");
    let known = domain.is_none_or(|domain| is_net_bios(domain) || is_dns(domain));
    refuse(!known, "'s Domain doesn't match the NetBios nor the DNS format");
    refuse(user.is_empty(), "'s User cannot be empty");
    refuse(user.len() > MAX_USER, "'s User length must not be longer than 104 characters");
    let hollow = !user.is_empty() && user.chars().all(|c| matches!(c, '.' | ' '));
    refuse(hollow, "'s User cannot contain only periods or spaces");
    let forbidden = user.contains(['"', '/', '\\', ':', ';', '|', '=', ',', '+', '*', '?', '<', '>', '@', '[', ']']);
    refuse(forbidden, r#"'s User cannot contain the following characters: "/\:;|=,+*?<>@[]"#);
    out
}

fn is_net_bios(domain: &str) -> bool {
    let length = domain.chars().count();
    (1..=MAX_NET_BIOS).contains(&length)
        && !domain.starts_with('.')
        && !domain.contains(['\\', '/', ':', '*', '?', '"', '<', '>', '|'])
}

fn is_dns(domain: &str) -> bool {
    domain.split('.').all(|label| {
        let bytes = label.as_bytes();
        (1..=63).contains(&bytes.len())
            && bytes.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    })
}

/// The path of a device in a container.
pub fn device_path(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    let goes_up = text.split('/').any(|part| part == "..");
    unless(!goes_up, path, text, "can not contain backsteps ('..')")
}

/// Comma-separated pairs of host and port, split like Go's `net.SplitHostPort`.
pub fn host_ports(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    let is_host_port = |pair: &str| {
        let parts = match pair.strip_prefix('[') {
            Some(rest) => rest.split_once("]:"),
            None => pair.split_once(':'),
        };
        parts.is_some_and(|(host, port)| !host.contains(['[', ']']) && !port.contains([':', '[', ']']))
    };
    let detail = "must be a host:port pair or multiple pairs separated by commas";
    text.split(',').flat_map(|pair| unless(is_host_port(pair), path, text, detail)).collect()
}

/// The name of a native resource of Kubernetes.
pub fn native_resource(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    unless(is_native_resource(name), path, name, "must be a native resource")
}

/// The name of a signer of Kubernetes, for conditions.
pub fn kubernetes_signer_name(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    let host = name.split_once('/').map_or(name, |(host, _)| host);
    unless(host == "kubernetes.io" || host.ends_with(".kubernetes.io"), path, name, "must be of kubernetes.io")
}

/// The name of a ClusterTrustBundle, which starts with the name of its signer, if it has one
/// (upstream `ValidateClusterTrustBundleName`).
pub fn trust_bundle_name(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    let messages = refusals_of_bundle(name).into_iter();
    messages.map(|why| FieldError::invalid(path, name, format!("not a valid clustertrustbundlename: {why}"))).collect()
}

fn refusals_of_bundle(name: &str) -> Messages {
    let own = match name.rsplit_once(':') {
        None => name,
        Some(("", _)) => return vec!["ClusterTrustBundle without signer name must not have \":\" in its name".into()],
        Some((prefix, own)) if !prefix.contains('/') => own,
        Some((prefix, _)) => {
            let (signer, prefix) = (prefix.replace(':', "/"), prefix.replace('/', ":"));
            let message = format!("ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}:");
            return vec![message.into()];
        }
    };
    NameRule::Dns1123Subdomain.check(own, false)
}
