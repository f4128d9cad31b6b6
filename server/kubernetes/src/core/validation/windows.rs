//! Pods of Windows.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format;
use machinery::hooks::Validation;

use super::visit::for_each_container;
use generated::core::v1::{PodSpec, WindowsSecurityContextOptions};

const MAX_DOMAIN: usize = 256;
const MAX_USER: usize = 104;
const MAX_NET_BIOS: usize = 15;

/// `validateWindowsSecurityContextOptions`. By hand: the name is shown as JSON.
pub fn validate_credential_name(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    options: &WindowsSecurityContextOptions,
    _: Option<&WindowsSecurityContextOptions>,
) {
    if let Some(name) = &options.gmsa_credential_spec_name {
        for message in format::is_dns1123_subdomain(name) {
            v.invalid(&path.child("gmsaCredentialSpecName"), BadValue::json_string(name), message);
        }
    }
}

/// By hand: names of users have two forms.
pub fn validate_windows_user(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    options: &WindowsSecurityContextOptions,
    _: Option<&WindowsSecurityContextOptions>,
) {
    if let Some(name) = &options.run_as_user_name {
        for detail in refusals_of_user(name) {
            v.invalid(&path.child("runAsUserName"), BadValue::json_string(name), format!("runAsUserName{detail}"));
        }
    }
}

/// What is wrong with `DOMAIN\USER` or `USER`.
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

/// `validateWindowsHostProcessPod`. By hand: containers are counted.
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
            let path = path.child("securityContext");
            let path = path.child("windowsOptions");
            let path = path.child("hostProcess");
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
        v.invalid(&path.child("hostNetwork"), false, detail);
    }
    if !v.context.allow_privileged {
        v.forbidden(path, "hostProcess containers are disallowed by cluster policy");
    }
}
