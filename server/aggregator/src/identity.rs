//! Users, told to another API server in headers; it believes them because of this server's client certificate
//! (upstream: `transport.SetAuthProxyHeaders`).

use http::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serving::User;

const USER: HeaderName = HeaderName::from_static("x-remote-user");
const UID: HeaderName = HeaderName::from_static("x-remote-uid");
const GROUP: HeaderName = HeaderName::from_static("x-remote-group");
const EXTRA: &str = "x-remote-extra-";

/// What the name of a header may not have in it, and the percent sign.
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

/// Says who asks, and nothing else that a client may have said under these names.
pub(crate) fn set(headers: &mut HeaderMap, user: &User) {
    let said: Vec<HeaderName> = headers.keys().filter(|name| is_ours(name)).cloned().collect();
    for name in said {
        headers.remove(name);
    }
    append(headers, USER, &user.name);
    if !user.uid.is_empty() {
        append(headers, UID, &user.uid);
    }
    user.groups.iter().for_each(|group| append(headers, GROUP, group));
    for (key, values) in &user.extra {
        let name = format!("{EXTRA}{}", utf8_percent_encode(key, ESCAPED)).to_ascii_lowercase();
        let Ok(name) = name.parse::<HeaderName>() else { continue };
        values.iter().for_each(|value| append(headers, name.clone(), value));
    }
}

fn is_ours(name: &HeaderName) -> bool {
    [USER, UID, GROUP].contains(name) || name.as_str().starts_with(EXTRA)
}

fn append(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
        headers.append(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_cannot_speak_for_the_proxy() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("X-Remote-User", "root"),
            ("X-Remote-Group", "system:masters"),
            ("X-Remote-Extra-A", "b"),
            ("Accept", "*/*"),
        ] {
            headers.insert(name.parse::<HeaderName>().unwrap(), HeaderValue::from_static(value));
        }
        let mut user = User::new("jane", ["dev", "ops"]);
        user.extra.insert("example.com/scope".into(), vec!["x".into()]);
        set(&mut headers, &user);
        let mut seen: Vec<String> = headers.iter().map(|(n, v)| format!("{n}: {}", v.to_str().unwrap())).collect();
        seen.sort();
        assert_eq!(
            seen,
            [
                "accept: */*",
                "x-remote-extra-example.com%2fscope: x",
                "x-remote-group: dev",
                "x-remote-group: ops",
                "x-remote-user: jane"
            ]
        );
    }
}
