//! Formats of dynamic resource allocation (upstream: `pkg/apis/resource/validation`).

use super::field::{csi_driver_name, extended_resource_name};
use super::{NameRule, is_c_identifier};
use scalar::go_text::quote;
use status::field_error::{BadValue, FieldError};
use status::field_path::Path;

/// The name of a device pool: DNS names separated by slashes (upstream `validatePoolName`).
pub fn device_pool_name(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    if name.is_empty() {
        return vec![FieldError::required(path, "")];
    }
    let mut errors = too_long(path, name, 253);
    for part in name.split('/') {
        errors.extend(wrong_name(path, part, NameRule::Dns1123Subdomain));
    }
    errors
}

/// The name of a request of a claim, optionally followed by that of a subrequest (upstream
/// `validateRequestNameRef`).
///
/// More slashes are not checked: no request has such a name.
pub fn device_request_reference(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    let parts = name.split('/').take(3).collect::<Vec<_>>();
    let parts = if parts.len() > 2 { &[] } else { parts.as_slice() };
    parts.iter().flat_map(|part| wrong_name(path, part, NameRule::Dns1123Label)).collect()
}

/// The name of an attribute or a capacity, which may have a domain (upstream
/// `validateQualifiedName`). As upstream, names with several slashes are not checked.
pub fn device_attribute_name(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    match name.split('/').collect::<Vec<_>>()[..] {
        [id] => short_identifier(path, id),
        [domain, id] => {
            let empty = |detail| vec![FieldError::invalid(path, "", detail)];
            let mut errors = match domain {
                "" => empty("the domain must not be empty"),
                domain => csi_driver_name(path, domain),
            };
            errors.extend(match id {
                "" => empty("the name must not be empty"),
                id => short_identifier(path, id),
            });
            errors
        }
        _ => Vec::new(),
    }
}

/// As [`device_attribute_name`], with a required domain (upstream `validateFullyQualifiedName`).
pub fn full_device_attribute_name(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    let mut errors = device_attribute_name(path, name);
    if !name.contains('/') {
        let detail = "a fully qualified name must be a domain and a name separated by a slash";
        errors.push(FieldError::invalid(path, BadValue::json_string(name), detail));
    }
    errors
}

fn short_identifier(path: &Path<'_>, id: &str) -> Vec<FieldError> {
    let mut errors = too_long(path, id, 32);
    errors.extend(is_c_identifier(id).into_iter().map(|message| FieldError::invalid(path, id, message)));
    errors
}

fn too_long(path: &Path<'_>, text: &str, max: usize) -> Vec<FieldError> {
    if text.len() > max { vec![FieldError::too_long(path, max)] } else { Vec::new() }
}

fn wrong_name(path: &Path<'_>, name: &str, rule: NameRule) -> impl Iterator<Item = FieldError> {
    rule.check(name, false).into_iter().map(move |message| FieldError::invalid(path, name, message))
}

/// The name of a native resource of Kubernetes (upstream `IsNativeResource`).
pub fn native_resource_name(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    if !name.contains('/') || name.contains("kubernetes.io/") {
        return Vec::new();
    }
    let detail = "must be a node allocatable resource name";
    vec![FieldError::invalid(path, BadValue::json_string(name), detail)]
}

/// The name of an extended resource (upstream `IsExtendedResourceName`).
pub fn extended_resource(path: &Path<'_>, name: &str) -> Vec<FieldError> {
    match extended_resource_name(path, name).is_empty() {
        true => Vec::new(),
        false => vec![FieldError::invalid(path, name, "must be a valid extended resource name")],
    }
}

/// A UUID in lower case (upstream `validateUID`).
pub fn lower_case_uuid(path: &Path<'_>, uid: &str) -> Vec<FieldError> {
    let detail = match refusal_of_uuid(uid) {
        Some(why) => format!("error validating uid: {why}"),
        None if uid.len() == 36 && uid == uid.to_lowercase() => return Vec::new(),
        None => "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase \
                 hexadecimal characters"
            .to_owned(),
    };
    vec![FieldError::invalid(path, uid, detail)]
}

/// The error of a UUID by Google's `uuid.Validate`, which also accepts some older forms.
fn refusal_of_uuid(uid: &str) -> Option<String> {
    let malformed = || Some("invalid UUID format".to_owned());
    let uid = match uid.len() {
        36 => uid,
        45 => match uid.split_at_checked(9) {
            Some((urn, rest)) if urn.eq_ignore_ascii_case("urn:uuid:") => rest,
            Some((urn, _)) => return Some(format!("invalid urn prefix: {}", quote(urn))),
            None => return malformed(),
        },
        38 => match uid.strip_prefix('{').and_then(|uid| uid.strip_suffix('}')) {
            Some(inner) => inner,
            None => return Some("invalid bracketed UUID format".to_owned()),
        },
        32 if uid.bytes().all(|byte| byte.is_ascii_hexdigit()) => return None,
        32 => return malformed(),
        length => return Some(format!("invalid UUID length: {length}")),
    };
    let fits = uid.bytes().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    if fits { None } else { malformed() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids() {
        let cases = [
            ("6ba7b810-9dad-11d1-80b4-00c04fd430c8", None),
            ("6BA7B810-9DAD-11D1-80B4-00C04FD430C8", None),
            ("urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8", None),
            ("{6ba7b810-9dad-11d1-80b4-00c04fd430c8}", None),
            ("6ba7b8109dad11d180b400c04fd430c8", None),
            ("", Some("invalid UUID length: 0")),
            ("6ba7b810x9dad-11d1-80b4-00c04fd430c8", Some("invalid UUID format")),
            ("urn:xuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8", Some("invalid urn prefix: \"urn:xuid:\"")),
            ("(6ba7b810-9dad-11d1-80b4-00c04fd430c8)", Some("invalid bracketed UUID format")),
        ];
        for (uid, expect) in cases {
            assert_eq!(refusal_of_uuid(uid).as_deref(), expect, "{uid}");
        }
    }
}
