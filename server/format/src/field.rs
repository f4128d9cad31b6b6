//! Formats with several error types, and the formats of declarative validation by name.

use super::{Messages, NameRule, content, matcher};
use scalar::go_text;
use status::field_error::{BadValue, FieldError};
use status::field_path::Path;
use std::borrow::Cow;

pub use super::device::{
    device_attribute_name, device_pool_name, device_request_reference, extended_resource, full_device_attribute_name,
    lower_case_uuid, native_resource_name,
};
pub use super::ip::{
    endpoint_ip, interface_address, ip_address, ip_network, ipv4_address, ipv6_address, is_valid_ip,
    lenient_ip_address, lenient_ip_network,
};
pub use super::named::{
    api_version, api_version_of_named_group, condition_reason, host_or_wildcard, iscsi_name, iscsi_name_by_prefix,
    kind_name, lease_strategy, listed_namespace, literal_path, no_ip_address, signer_name, single_line,
    versioned_group,
};
pub use super::pods::{
    device_path, host_ports, kubernetes_signer_name, native_resource, sysctl_beside_ipc, sysctl_beside_network,
    sysctl_name, trust_bundle_name, windows_user_name,
};
pub use super::resource::{claim_resource_name, container_resource_name, quota_resource_name, resource_name};
pub use super::url::{non_resource_path, webhook_path, webhook_url};
pub use super::version::{resource_version, semantic_version, semantic_version_of_numbers, storage_api_version};

/// A format by its name in the tag `k8s:format` (upstream: `validate/strfmt.go`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeclaredFormat {
    /// `k8s-short-name`
    ShortName,
    /// `k8s-long-name`
    LongName,
    /// `k8s-long-name-caseless`
    LongNameCaseless,
    /// `k8s-label-key`
    LabelKey,
    /// `k8s-label-value`
    LabelValue,
    /// `k8s-path-segment-name`
    PathSegmentName,
    /// `k8s-uuid`
    Uuid,
    /// `k8s-resource-pool-name`
    ResourcePoolName,
    /// `k8s-extended-resource-name`
    ExtendedResourceName,
    /// `k8s-resource-fully-qualified-name`
    ResourceFullyQualifiedName,
}

impl DeclaredFormat {
    /// The format with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "k8s-short-name" => Self::ShortName,
            "k8s-long-name" => Self::LongName,
            "k8s-long-name-caseless" => Self::LongNameCaseless,
            "k8s-label-key" => Self::LabelKey,
            "k8s-label-value" => Self::LabelValue,
            "k8s-path-segment-name" => Self::PathSegmentName,
            "k8s-uuid" => Self::Uuid,
            "k8s-resource-pool-name" => Self::ResourcePoolName,
            "k8s-extended-resource-name" => Self::ExtendedResourceName,
            "k8s-resource-fully-qualified-name" => Self::ResourceFullyQualifiedName,
            _ => return None,
        })
    }

    /// The errors of a value by this format.
    pub fn check(self, path: &Path<'_>, value: &str) -> Vec<FieldError> {
        let messages = match self {
            Self::ShortName => content::is_dns1123_label(value),
            Self::LongName => content::is_dns1123_subdomain(value),
            Self::LongNameCaseless => content::is_dns1123_subdomain_caseless(value),
            Self::LabelKey => content::is_label_key(value),
            Self::LabelValue => super::is_label_value(value),
            Self::PathSegmentName => super::is_path_segment_name(value),
            Self::Uuid => content::is_uuid(value),
            Self::ResourcePoolName => return resource_pool_name(path, value),
            Self::ExtendedResourceName => return extended_resource_name(path, value),
            Self::ResourceFullyQualifiedName => return resource_fully_qualified_name(path, value),
        };
        invalid(path, value, messages)
    }
}

fn invalid(path: &Path<'_>, value: &str, messages: Messages) -> Vec<FieldError> {
    messages.into_iter().map(|message| FieldError::invalid(path, value, message)).collect()
}

/// DNS names separated by slashes.
fn resource_pool_name(path: &Path<'_>, value: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if value.len() > 253 {
        errors.push(FieldError::too_long(path, 253));
    }
    for (index, part) in value.split('/').enumerate() {
        if part.is_empty() {
            errors.push(FieldError::invalid(path, value, format!("segment {index}: must not be empty")));
            continue;
        }
        let wrong = DeclaredFormat::LongName.check(path, part);
        errors.extend(wrong.into_iter().map(|error| error.prefix_detail(&format!("segment {index}: "))));
    }
    errors
}

/// A name with a domain that is not Kubernetes' own, short enough to be a resource of a quota.
pub(super) fn extended_resource_name(path: &Path<'_>, value: &str) -> Vec<FieldError> {
    let mut refuse = Vec::<Cow<'static, str>>::new();
    if !value.contains('/') {
        refuse.push("a name must be a domain-prefixed path, such as 'example.com/my-prop'".into());
    } else if value.contains("kubernetes.io/") {
        refuse.push("must not have \"kubernetes.io/\" domain".into());
    }
    if value.starts_with("requests.") {
        refuse.push("must not have \"requests.\" prefix".into());
    }
    refuse.extend(content::is_label_key(&format!("requests.{value}")));
    invalid(path, value, refuse)
}

/// A domain, a slash and a C identifier.
fn resource_fully_qualified_name(path: &Path<'_>, value: &str) -> Vec<FieldError> {
    let mut errors = match value.split_once('/') {
        None => short_c_identifier(path, value),
        Some((_, name)) if name.contains('/') => Vec::new(), // Upstream does not check names with more than one slash.
        Some((prefix, name)) => {
            let mut errors = resource_prefix(path, prefix);
            match name {
                "" => errors.push(FieldError::invalid(path, "", "name must not be empty")),
                name => errors.extend(short_c_identifier(path, name)),
            }
            errors
        }
    };
    if !value.contains('/') {
        let message = "a fully qualified name must be a domain and a name separated by a slash";
        errors.push(FieldError::invalid(path, value, message));
    }
    errors
}

fn resource_prefix(path: &Path<'_>, prefix: &str) -> Vec<FieldError> {
    if prefix.is_empty() {
        return vec![FieldError::invalid(path, "", "prefix must not be empty")];
    }
    let mut errors = Vec::new();
    if prefix.len() > 63 {
        errors.push(FieldError::too_long(path, 63));
    }
    let wrong = DeclaredFormat::LongName.check(path, prefix);
    errors.extend(wrong.into_iter().map(|error| error.prefix_detail("prefix: ")));
    errors
}

fn short_c_identifier(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if name.len() > 32 {
        errors.push(FieldError::too_long(path, 32));
    }
    errors.extend(invalid(path, name, super::is_c_identifier(name)));
    errors
}

/// A DNS label (upstream `IsDNS1123Label`).
pub fn dns1123_label(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    invalid(path, text, super::is_dns1123_label(text))
}

/// A DNS name (upstream `IsDNS1123Subdomain`).
pub fn dns1123_subdomain(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    invalid(path, text, super::is_dns1123_subdomain(text))
}

/// A DNS label that starts with a letter (upstream `IsDNS1035Label`).
pub fn dns1035_label(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    invalid(path, text, super::is_dns1035_label(text))
}

/// A name with an optional domain prefix (upstream `IsQualifiedName`).
pub fn qualified_name(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    invalid(path, text, super::is_qualified_name(text))
}

/// As [`qualified_name`], in any case; messages show it in lower case.
pub fn caseless_qualified_name(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    qualified_name(path, &text.to_lowercase())
}

/// A segment of a URL path (upstream `IsValidPathSegmentName`).
pub fn path_segment_name(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    invalid(path, text, super::is_path_segment_name(text))
}

/// A path that starts at the root.
pub fn absolute_path(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    match text.starts_with('/') {
        true => Vec::new(),
        false => vec![FieldError::invalid(path, text, "must be an absolute path")],
    }
}

/// A path without `..` (upstream `validatePathNoBacksteps`).
pub fn path_without_backsteps(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    match text.split('/').any(|part| part == "..") {
        true => vec![FieldError::invalid(path, text, "must not contain '..'")],
        false => Vec::new(),
    }
}

/// A relative path without `..` (upstream `validateLocalDescendingPath`).
pub fn relative_path(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if text.starts_with('/') {
        errors.push(FieldError::invalid(path, text, "must be a relative path"));
    }
    errors.extend(path_without_backsteps(path, text));
    errors
}

/// A path in a volume; names that start with two dots are reserved for the kubelet (upstream
/// `ValidateLocalNonReservedPath`).
pub fn volume_path(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    let mut errors = relative_path(path, text);
    if text.starts_with("..") && !text.starts_with("../") {
        errors.push(FieldError::invalid(path, text, "must not start with '..'"));
    }
    errors
}

/// The name of a file.
pub fn text_without_slashes(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    match text.contains('/') {
        true => vec![FieldError::invalid(path, text, "must not contain '/'")],
        false => Vec::new(),
    }
}

/// A text without leading and trailing blanks.
pub fn unpadded_text(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    match text.trim() == text {
        true => Vec::new(),
        false => vec![FieldError::invalid(path, text, "must not be padded with whitespace")],
    }
}

/// As [`unpadded_text`], with another message.
pub fn trimmed_text(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    match text.trim().len() == text.len() {
        true => Vec::new(),
        false => vec![FieldError::invalid(path, text, "must not have leading or trailing whitespace")],
    }
}

/// A non-empty DNS name with an optional trailing dot, which messages omit.
pub fn rooted_dns1123_subdomain(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    match text.strip_suffix('.').unwrap_or(text) {
        "" => vec![FieldError::required(path, "")],
        name => dns1123_subdomain(path, name),
    }
}

/// A DNS name that is not an IP address.
pub fn host_name(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    let mut errors = dns1123_subdomain(path, text);
    if super::ip::parse_ip_sloppy(text).is_some() {
        errors.push(FieldError::invalid(path, text, "must be a DNS name, not an IP address"));
    }
    errors
}

/// A DNS name with underscores, for DNS search paths. It may end with a dot, or be a dot.
pub fn search_domain(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    match text {
        "." => Vec::new(),
        text => {
            let domain = text.strip_suffix('.').unwrap_or(text);
            invalid(path, domain, super::is_dns1123_subdomain_with_underscore(domain))
        }
    }
}

/// A key outside of Kubernetes' own domains, compared in any case.
pub fn unreserved_key(path: &Path<'_>, key: &str) -> Vec<FieldError> {
    let domain = key.split_once('/').map_or(key, |(domain, _)| domain);
    let domain = format!(".{}", domain.to_lowercase());
    match domain.ends_with(".kubernetes.io") || domain.ends_with(".k8s.io") {
        true => vec![FieldError::invalid(path, key, "kubernetes.io and k8s.io namespaces are reserved")],
        false => Vec::new(),
    }
}

/// As [`domain_prefixed_key`], in any case; messages show it in lower case.
pub fn caseless_domain_prefixed_key(path: &Path<'_>, key: &str) -> Vec<FieldError> {
    domain_prefixed_key(path, &key.to_lowercase())
}

/// The value of a label.
pub fn label_value(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    invalid(path, text, super::is_label_value(text))
}

/// The value of a label; all errors are joined to one.
pub fn label_value_in_one(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    let messages = super::is_label_value(text);
    if messages.is_empty() { Vec::new() } else { vec![FieldError::invalid(path, text, messages.join(";"))] }
}

/// A DNS label that starts with a letter; all errors are joined to one.
pub fn dns1035_label_in_one(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    in_one(path, text, &super::is_dns1035_label(text))
}

/// A DNS name; all errors are joined to one.
pub fn dns1123_subdomain_in_one(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    in_one(path, text, &super::is_dns1123_subdomain(text))
}

fn in_one(path: &Path<'_>, text: &str, messages: &Messages) -> Vec<FieldError> {
    if messages.is_empty() { Vec::new() } else { vec![FieldError::invalid(path, text, messages.join(","))] }
}

/// The prefix of a DNS name.
pub fn dns1123_subdomain_prefix(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    invalid(path, text, NameRule::Dns1123Subdomain.check(text, true))
}

/// The name of a port (upstream `IsValidPortName`).
pub fn port_name(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    invalid(path, text, super::is_valid_port_name(text))
}

/// The name of an HTTP header (upstream `IsHTTPHeaderName`).
pub fn http_header_name(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    invalid(path, text, super::is_http_header_name(text))
}

/// The name of an environment variable (upstream `IsRelaxedEnvVarName`).
pub fn relaxed_env_var_name(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    invalid(path, text, super::is_relaxed_env_var_name(text))
}

/// The key of a ConfigMap or Secret (upstream `IsConfigMapKey`).
pub fn config_map_key(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    invalid(path, text, super::is_config_map_key(text))
}

/// A 64-bit integer in decimal digits.
pub fn decimal_int64(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    let mut errors = invalid(path, text, content::is_decimal_integer(text));
    if let Err(error) = text.parse::<i64>() {
        let why = match error.kind() {
            NegOverflow | PosOverflow => "value out of range",
            _ => "invalid syntax",
        };
        let message = format!("strconv.ParseInt: parsing {}: {why}", go_text::quote(text));
        errors.push(FieldError::invalid(path, text, message));
    }
    errors
}

/// A percentage (upstream `IsValidPercent`). Messages show it as JSON, because the field may also
/// be a number.
pub fn percent(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    let messages = super::is_valid_percent(text).into_iter();
    messages.map(|message| FieldError::invalid(path, BadValue::json_string(text), message)).collect()
}

/// A percentage of at most 100 (upstream `IsNotMoreThan100Percent`). A malformed percentage is not
/// checked.
pub fn percent_of_at_most_all(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    let share = text.trim_end_matches('%').trim_start_matches('0');
    let is_more = share.parse::<u64>().map_or(!share.is_empty(), |share| share > 100);
    if is_more && super::is_valid_percent(text).is_empty() {
        return vec![FieldError::invalid(path, BadValue::json_string(text), "must not be greater than 100%")];
    }
    Vec::new()
}

/// A domain of at least three labels (upstream `IsFullyQualifiedName`).
pub fn fully_qualified_name(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    if let Some(error) = required_subdomain(path, name, name) {
        return vec![error];
    }
    if name.split('.').count() < 3 {
        let message = "should be a domain with at least three segments separated by dots";
        return vec![FieldError::invalid(path, name, message)];
    }
    Vec::new()
}

/// A domain of at least two labels, with an optional trailing dot (upstream
/// `IsFullyQualifiedDomainName`).
pub fn fully_qualified_domain_name(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    let undotted = name.strip_suffix('.').unwrap_or(name);
    if let Some(error) = required_subdomain(path, name, undotted) {
        return vec![error];
    }
    if undotted.split('.').count() < 2 {
        let message = "should be a domain with at least two segments separated by dots";
        return vec![FieldError::invalid(path, undotted, message)];
    }
    let wrong_label = undotted.split('.').find_map(|label| {
        let messages = super::is_dns1123_label(label);
        (!messages.is_empty()).then(|| FieldError::invalid(path, label, messages.join(",")))
    });
    wrong_label.into_iter().collect()
}

fn required_subdomain(path: &Path<'_>, given: &str, name: &str) -> Option<FieldError> {
    if given.is_empty() {
        return Some(FieldError::required(path, ""));
    }
    let messages = super::is_dns1123_subdomain(name);
    (!messages.is_empty()).then(|| FieldError::invalid(path, name, messages.join(",")))
}

/// A domain, a slash and an HTTP path (upstream `IsDomainPrefixedPath`).
pub fn domain_prefixed_path(path: &Path<'_>, value: &str) -> Vec<FieldError> {
    const REGEX: &str = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
    if value.is_empty() {
        return vec![FieldError::required(path, "")];
    }
    let (host, rest) = match value.split_once('/') {
        Some((host, rest)) if !host.is_empty() && !rest.is_empty() => (host, rest),
        _ => {
            let message = "must be a domain-prefixed path (such as \"acme.io/foo\")";
            return vec![FieldError::invalid(path, value, message)];
        }
    };
    let mut errors = invalid(path, host, super::is_dns1123_subdomain(host));
    if !matcher::is_all(rest, |byte| byte.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&byte)) {
        errors.push(FieldError::invalid(path, rest, super::regex_error("Invalid path", REGEX, &[])));
    }
    errors
}

/// A qualified name with a required prefix (upstream `IsDomainPrefixedKey`).
pub fn domain_prefixed_key(path: &Path<'_>, key: &str) -> Vec<FieldError> {
    if key.is_empty() {
        return vec![FieldError::required(path, "")];
    }
    let errors = invalid(path, key, content::is_label_key(key));
    if errors.is_empty() && !key.contains('/') {
        let message = "must be a domain-prefixed key (such as \"acme.io/foo\")";
        return vec![FieldError::invalid(path, key, message)];
    }
    errors
}

/// The name of a CSI driver (upstream `ValidateCSIDriverName`): a DNS name in any case.
pub fn csi_driver_name(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    if name.is_empty() {
        return vec![FieldError::required(path, "")];
    }
    let mut errors = Vec::new();
    if name.len() > 63 {
        errors.push(FieldError::too_long(path, 63));
    }
    errors.extend(invalid(path, name, super::is_dns1123_subdomain(&name.to_lowercase())));
    errors
}

/// A finalizer (upstream `ValidateFinalizerName`).
pub fn finalizer_name(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    invalid(path, name, super::is_qualified_name(name))
}

/// The additional rule of built-in kinds: a finalizer without a domain must be one of Kubernetes'.
pub fn kubernetes_finalizer_name(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    if name.contains('/') || matches!(name, "kubernetes" | "orphan" | "foregroundDeletion") {
        return Vec::new();
    }
    let message = "name is neither a standard finalizer name nor is it fully qualified";
    vec![FieldError::invalid(path, name, message)]
}

/// The name of a field manager (upstream `ValidateFieldManager`).
pub fn field_manager(path: &Path<'_>, manager: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if manager.len() > 128 {
        errors.push(FieldError::too_long(path, 128));
    }
    for (at, character) in manager.char_indices().filter(|(_, character)| !go_text::is_printable(*character)) {
        let message = format!("invalid character U+{:04X} (at position {at})", character as u32);
        errors.push(FieldError::invalid(path, manager, message));
    }
    errors
}
