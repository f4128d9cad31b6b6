//! Identity headers for another API server that trusts the front proxy certificate (upstream:
//! `transport.SetAuthProxyHeaders`).

use http::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use request::User;

const USER: HeaderName = HeaderName::from_static("x-remote-user");
const UID: HeaderName = HeaderName::from_static("x-remote-uid");
const GROUP: HeaderName = HeaderName::from_static("x-remote-group");
const EXTRA: &str = "x-remote-extra-";

/// Characters that are invalid in a header name, and the percent sign.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'*')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');

/// The name of a header that cannot represent its value unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid header field value for {0:?}")]
pub(crate) struct InvalidIdentity(pub String);

/// Adds the headers of a user. The caller has removed those of the client.
///
/// # Errors
/// Returns an error if a header cannot represent a value unchanged: a backend would see another
/// user or other groups.
pub(crate) fn add(headers: &mut HeaderMap, user: &User) -> Result<(), InvalidIdentity> {
    append(headers, USER, &user.name)?;
    if !user.uid.is_empty() {
        append(headers, UID, &user.uid)?;
    }
    for group in &user.groups {
        append(headers, GROUP, group)?;
    }
    for (key, values) in &user.extra {
        let name = format!("{EXTRA}{}", utf8_percent_encode(key, ESCAPED)).to_ascii_lowercase();
        let name: HeaderName = name.parse().map_err(|_| InvalidIdentity(name))?;
        for value in values {
            append(headers, name.clone(), value)?;
        }
    }
    Ok(())
}

/// Appends a value. HTTP trims spaces around a value, so such a value would change.
fn append(headers: &mut HeaderMap, name: HeaderName, value: &str) -> Result<(), InvalidIdentity> {
    let is_changed = value.trim_matches([' ', '\t']) != value;
    match HeaderValue::from_bytes(value.as_bytes()) {
        Ok(value) if !is_changed => {
            headers.append(name, value);
            Ok(())
        }
        _ => Err(InvalidIdentity(name.as_str().to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_all_identity_headers() {
        let mut user = User::new("jane", ["dev", "ops"]);
        user.uid = "42".into();
        user.extra.insert("example.com/scope".into(), vec!["x".into()]);
        let mut headers = HeaderMap::new();
        add(&mut headers, &user).unwrap();
        let mut seen: Vec<String> = headers.iter().map(|(n, v)| format!("{n}: {}", v.to_str().unwrap())).collect();
        seen.sort();
        assert_eq!(
            seen,
            [
                "x-remote-extra-example.com%2fscope: x",
                "x-remote-group: dev",
                "x-remote-group: ops",
                "x-remote-uid: 42",
                "x-remote-user: jane"
            ]
        );
    }

    #[test]
    fn rejects_identity_that_a_header_would_change() {
        for (user, header) in [
            (User::new("admin ", ["dev"]), "x-remote-user"),
            (User::new("\tadmin", ["dev"]), "x-remote-user"),
            (User::new("a\nb", ["dev"]), "x-remote-user"),
            (User::new("jane", [" system:masters"]), "x-remote-group"),
        ] {
            assert_eq!(add(&mut HeaderMap::new(), &user), Err(InvalidIdentity(header.into())), "{user:?}");
        }
    }
}
