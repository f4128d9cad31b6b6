//! Names of external systems and of certificate signers, and reasons of conditions.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    DNS_LABEL_MAX_LENGTH, DNS_SUBDOMAIN_MAX_LENGTH, Messages, is_dns1035_label, is_dns1123_label, is_dns1123_subdomain,
};
use scalar::go_text::quote;
use status::field_error::{BadValue, FieldError};
use status::field_path::Path;

/// The prefixes of iSCSI names, and the syntax of names with each prefix.
static ISCSI_NAMES: LazyLock<Vec<(&str, Option<Regex>)>> = LazyLock::new(|| {
    [
        ("iqn", r"iqn\.\d{4}-\d{2}\.([[:alnum:]\-.]+)(:[^,;*&$|\s]+)$"),
        ("eui", r"^eui.[[:alnum:]]{16}$"),
        ("naa", r"^naa.[[:alnum:]]{32}$"),
    ]
    .map(|(prefix, pattern)| (prefix, Regex::new(pattern).ok()))
    .into()
});

const MALFORMED: &str = "must be valid format";

/// The name of an iSCSI target or initiator.
pub fn iscsi_name(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    check_iscsi_name(path, name, MALFORMED)
}

/// As [`iscsi_name`]; the message about an unknown prefix lists the prefixes.
pub fn iscsi_name_by_prefix(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    check_iscsi_name(path, name, "must be valid format starting with iqn, eui, or naa")
}

fn check_iscsi_name(path: &Path<'_>, name: &str, wrong_prefix: &'static str) -> Vec<FieldError> {
    let why = match ISCSI_NAMES.iter().find(|(prefix, _)| name.starts_with(prefix)) {
        None => wrong_prefix,
        Some((_, Some(shape))) if !shape.is_match(name) => MALFORMED,
        Some(_) => return Vec::new(),
    };
    vec![FieldError::invalid(path, name, why)]
}

/// Limit on the length of a signer name: a domain, a slash, a namespace, a dot and a name.
const MAX_SIGNER_NAME: usize = 2 * DNS_SUBDOMAIN_MAX_LENGTH + DNS_LABEL_MAX_LENGTH + 2;

/// A domain, a slash and a path of names separated by dots (upstream `ValidateSignerName`).
pub fn signer_name(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    if name.is_empty() {
        return vec![FieldError::required(path, "")];
    }
    let (domain, rest) = match name.split_once('/') {
        Some((domain, rest)) if !rest.contains('/') => (domain, rest),
        _ => {
            let detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
            return vec![FieldError::invalid(path, name, detail)];
        }
    };
    let mut errors = Vec::new();
    if domain.len() > DNS_SUBDOMAIN_MAX_LENGTH {
        errors.push(FieldError::too_long(path, DNS_SUBDOMAIN_MAX_LENGTH));
    }
    errors.extend(wrong_label(path, domain, is_dns1123_label));
    if !domain.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        errors.push(FieldError::invalid(path, domain, detail));
    }
    errors.extend(wrong_label(path, rest, is_dns1123_subdomain));
    if name.len() > MAX_SIGNER_NAME {
        errors.push(FieldError::too_long(path, MAX_SIGNER_NAME));
    }
    errors
}

/// The errors of the first malformed part.
fn wrong_label(path: &Path<'_>, name: &str, check: fn(&str) -> Messages) -> Vec<FieldError> {
    let wrong = name.split('.').map(|label| (label, check(label))).find(|(_, messages)| !messages.is_empty());
    let Some((label, messages)) = wrong else { return Vec::new() };
    let errors = messages
        .into_iter()
        .map(|message| FieldError::invalid(path, name, format!("validating label {}: {message}", quote(label))));
    errors.collect()
}

const REASON: &str = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?";

/// The reason of a condition.
pub fn condition_reason(path: &Path<'_>, reason: &str) -> Vec<FieldError> {
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let bytes = reason.as_bytes();
    let matches = bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last().is_some_and(word)
        && bytes.iter().all(|byte| word(byte) || matches!(byte, b',' | b':'));
    if matches {
        return Vec::new();
    }
    let detail = format!(
        "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric \
         characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or \
         'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '{REASON}')"
    );
    vec![FieldError::invalid(path, reason, detail)]
}

/// The election strategy of a lease: one of Kubernetes', or a name with a domain (upstream
/// `ValidateCoordinatedLeaseStrategy`).
pub fn lease_strategy(path: &Path<'_>, strategy: &str) -> Vec<FieldError> {
    const KNOWN: &str = "OldestEmulationVersion";
    let shown = || BadValue::json_string(strategy);
    if strategy.contains('/') {
        let messages = super::is_qualified_name(strategy);
        return messages.into_iter().map(|message| FieldError::invalid(path, shown(), message)).collect();
    }
    if strategy == KNOWN { Vec::new() } else { vec![FieldError::not_supported(path, shown(), &[KNOWN])] }
}

/// A DNS name, which may start with a wildcard.
pub fn host_or_wildcard(path: &Path<'_>, host: &str) -> Vec<FieldError> {
    let check = if host.contains('*') { super::is_wildcard_dns1123_subdomain } else { is_dns1123_subdomain };
    check(host).into_iter().map(|message| FieldError::invalid(path, host, message)).collect()
}

/// A text that is not an IP address.
pub fn no_ip_address(path: &Path<'_>, host: &str) -> Vec<FieldError> {
    match super::ip::parse_ip_sloppy(host) {
        Some(_) => vec![FieldError::invalid(path, host, "must be a DNS name, not an IP address")],
        None => Vec::new(),
    }
}

/// A URL path without special sequences (networking's `invalidPathSequences`,
/// `invalidPathSuffixes`).
pub fn literal_path(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    let sequences = ["//", "/./", "/../", "%2f", "%2F"].into_iter().filter(|sequence| text.contains(sequence));
    let ends = ["/..", "/."].into_iter().filter(|end| text.ends_with(end));
    let refuse = |detail: String| FieldError::invalid(path, text, detail);
    let sequences = sequences.map(|sequence| refuse(format!("must not contain '{sequence}'")));
    sequences.chain(ends.map(|end| refuse(format!("cannot end with '{end}'")))).collect()
}

/// An optional group, and a version.
pub fn versioned_group(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    let (group, version) = match text.split('/').collect::<Vec<_>>()[..] {
        [version] => ("", version),
        [group, version] => (group, version),
        _ => return vec![FieldError::invalid(path, text, format!("unexpected GroupVersion string: {text}"))],
    };
    let mut errors = Vec::new();
    if !group.is_empty() {
        errors.extend(joined(path, group, "", &is_dns1123_subdomain(group)));
    }
    match version {
        "" => errors.push(FieldError::invalid(path, text, "version must be specified")),
        version => errors.extend(joined(path, version, "", &is_dns1035_label(version))),
    }
    errors
}

/// The `apiVersion` of objects (upstream `schema.ParseGroupVersion`).
pub fn api_version(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    match text.matches('/').count() {
        0 | 1 => Vec::new(),
        _ => vec![FieldError::invalid(path, text, format!("unexpected GroupVersion string: {text}"))],
    }
}

/// As [`api_version`], with a required group.
pub fn api_version_of_named_group(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    let errors = api_version(path, text);
    let is_named = text.split_once('/').is_some_and(|(group, _)| !group.is_empty());
    match is_named || !errors.is_empty() {
        true => errors,
        false => vec![FieldError::invalid(path, text, "apiVersion must specify API group")],
    }
}

/// The name of a kind: a DNS label in any case.
pub fn kind_name(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    let messages = is_dns1035_label(&name.to_lowercase());
    joined(path, name, "may have mixed case, but should otherwise match: ", &messages).into_iter().collect()
}

/// Joins all errors of a text to one.
fn joined(path: &Path<'_>, text: &str, before: &str, messages: &Messages) -> Option<FieldError> {
    (!messages.is_empty()).then(|| FieldError::invalid(path, text, format!("{before}{}", messages.join(","))))
}

/// A text without line breaks, except at its ends.
pub fn single_line(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    match text.trim().contains(['\n', '\r']) {
        true => vec![FieldError::invalid(path, text, "must not contain line breaks")],
        false => Vec::new(),
    }
}

/// An item in a list of namespaces, which may be `*` for all.
pub fn listed_namespace(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    let why = |message| format!("each member of this list must be '*' or a DNS-1123 label; {message}");
    is_dns1123_label(name).into_iter().map(|message| FieldError::invalid(path, name, why(message))).collect()
}
