//! Names of pools, attributes and shares.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{self, NameRule, field};
use machinery::hooks::Validation;
use machinery::scalar::go_text::quote;

const MAX_POOL_LENGTH: usize = 253;
const MAX_ID_LENGTH: usize = 32;
const MAX_DOMAIN_LENGTH: usize = 63;
/// A domain, a slash and an identifier.
pub const MAX_QUALIFIED_LENGTH: usize = MAX_DOMAIN_LENGTH + 1 + MAX_ID_LENGTH;

/// `validateDriverName`
pub fn validate_driver(v: &mut Validation<'_>, path: &Path<'_>, name: &str) {
    v.errors.extend(field::csi_driver_name(path, name));
}

/// `validatePoolName`
pub fn validate_pool(v: &mut Validation<'_>, path: &Path<'_>, name: &str) {
    if name.is_empty() {
        return v.required(path, "");
    }
    if name.len() > MAX_POOL_LENGTH {
        v.too_long(path, MAX_POOL_LENGTH);
    }
    name.split('/').for_each(|part| v.name(path, part, NameRule::Dns1123Subdomain));
}

/// A name of one label, missing when empty.
pub fn validate_required_label(v: &mut Validation<'_>, path: &Path<'_>, name: &str) {
    if name.is_empty() {
        v.required(path, "");
    } else {
        v.name(path, name, NameRule::Dns1123Label);
    }
}

/// `validateNodeName`
pub fn validate_node_name(v: &mut Validation<'_>, path: &Path<'_>, name: &str) {
    v.name(path, name, NameRule::Dns1123Subdomain);
}

/// `validateQualifiedName`; upstream accepts any name with several slashes.
pub fn validate_qualified(v: &mut Validation<'_>, path: &Path<'_>, name: &str) {
    match name.split('/').collect::<Vec<_>>()[..] {
        [id] => validate_id(v, path, id),
        [domain, id] => {
            if domain.is_empty() {
                v.invalid(path, "", "the domain must not be empty");
            } else {
                validate_driver(v, path, domain);
            }
            if id.is_empty() {
                v.invalid(path, "", "the name must not be empty");
            } else {
                validate_id(v, path, id);
            }
        }
        _ => {}
    }
}

/// `validateFullyQualifiedName`
pub fn validate_fully_qualified(v: &mut Validation<'_>, path: &Path<'_>, name: &str) {
    validate_qualified(v, path, name);
    if !name.contains('/') {
        let detail = "a fully qualified name must be a domain and a name separated by a slash";
        v.invalid(path, BadValue::json_string(name), detail);
    }
}

fn validate_id(v: &mut Validation<'_>, path: &Path<'_>, id: &str) {
    if id.len() > MAX_ID_LENGTH {
        v.too_long(path, MAX_ID_LENGTH);
    }
    v.malformed(path, id, format::is_c_identifier(id));
}

/// `validateUID`
pub fn validate_uid(v: &mut Validation<'_>, path: &Path<'_>, uid: &str) {
    if let Some(why) = refusal_of_uid(uid) {
        v.invalid(path, uid, format!("error validating uid: {why}"));
    } else if uid.len() != 36 || uid != uid.to_lowercase() {
        let detail = "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase \
                      hexadecimal characters";
        v.invalid(path, uid, detail);
    }
}

/// Google's `uuid.Validate`: some older forms are known too.
fn refusal_of_uid(uid: &str) -> Option<String> {
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
    fn uids() {
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
            assert_eq!(refusal_of_uid(uid).as_deref(), expect, "{uid}");
        }
    }
}
