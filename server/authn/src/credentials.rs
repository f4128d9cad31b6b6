//! Removes credentials and identities from the headers of authenticated requests (upstream: `WithAuthentication`,
//! `headerrequest.ClearAuthenticationHeaders`).

use http::{HeaderMap, HeaderName};
use options::RequestHeaders;

use crate::bearer;

/// The headers in which API servers pass users to each other.
const STANDARD: [HeaderName; 3] = [
    HeaderName::from_static("x-remote-user"),
    HeaderName::from_static("x-remote-uid"),
    HeaderName::from_static("x-remote-group"),
];
const STANDARD_PREFIX: &str = "x-remote-extra-";
const IMPERSONATION_PREFIX: &str = "impersonate-";

/// The headers in which front proxies name users: the standard headers and the configured ones.
#[derive(Clone, Debug, Default)]
pub struct IdentityHeaders {
    /// Configured names and prefixes besides the standard ones, in lower case.
    names: Vec<HeaderName>,
    prefixes: Vec<String>,
}

impl IdentityHeaders {
    /// The standard headers and the configured ones.
    pub fn with(configured: &RequestHeaders) -> Self {
        let names = configured.user_names.iter().chain(&configured.uids).chain(&configured.groups);
        // An empty prefix names every header; upstream refuses it.
        let prefixes = configured.extra_prefixes.iter().filter(|prefix| !prefix.is_empty());
        IdentityHeaders {
            names: names.filter(|name| !is_standard(name)).cloned().collect(),
            prefixes: prefixes.filter(|prefix| *prefix != STANDARD_PREFIX).cloned().collect(),
        }
    }

    /// Removes these headers, the Authorization header and bearer tokens in WebSocket subprotocols.
    pub fn remove(&self, headers: &mut HeaderMap) {
        bearer::remove(headers);
        remove_where(headers, |name| self.contains(name));
    }

    fn contains(&self, name: &HeaderName) -> bool {
        is_standard(name)
            || self.names.contains(name)
            || self.prefixes.iter().any(|prefix| name.as_str().starts_with(prefix.as_str()))
    }
}

/// Removes all `Impersonate-*` headers.
pub fn remove_impersonation(headers: &mut HeaderMap) {
    remove_where(headers, |name| name.as_str().starts_with(IMPERSONATION_PREFIX));
}

fn is_standard(name: &HeaderName) -> bool {
    name.as_str().starts_with("x-remote-") && (STANDARD.contains(name) || name.as_str().starts_with(STANDARD_PREFIX))
}

fn remove_where(headers: &mut HeaderMap, is_removed: impl Fn(&HeaderName) -> bool) {
    let names: Vec<HeaderName> = headers.keys().filter(|name| is_removed(name)).cloned().collect();
    for name in names {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remaining(identity: &IdentityHeaders, names: &[&str]) -> Vec<String> {
        let mut headers = HeaderMap::new();
        for name in names {
            headers.append(name.parse::<HeaderName>().unwrap(), "x".parse().unwrap());
            headers.append(name.parse::<HeaderName>().unwrap(), "y".parse().unwrap());
        }
        identity.remove(&mut headers);
        let mut left: Vec<String> = headers.keys().map(|name| name.as_str().to_owned()).collect();
        left.sort();
        left
    }

    #[test]
    fn removes_standard_and_configured_headers() {
        let name = |text: &str| text.parse::<HeaderName>().unwrap();
        let configured = RequestHeaders {
            user_names: vec![name("X-User"), name("X-Remote-User"), name("X-Login")],
            uids: vec![name("X-Uid")],
            groups: vec![name("X-Team"), name("X-Group")],
            extra_prefixes: vec!["x-more-".into(), "x-else-".into(), String::new()],
            allowed_names: Vec::new(),
        };
        let sent = [
            "X-USER",
            "x-login",
            "X-Uid",
            "X-Group",
            "X-Team",
            "X-More-Scopes",
            "X-Else-A",
            "X-Remote-User",
            "X-Remote-Uid",
            "X-REMOTE-GROUP",
            "X-Remote-Extra-a%2fb",
            "Authorization",
            "X-Remote-Other",
            "Accept",
        ];
        assert_eq!(remaining(&IdentityHeaders::with(&configured), &sent), ["accept", "x-remote-other"]);
        let unconfigured = remaining(&IdentityHeaders::default(), &["X-User", "X-Remote-User", "Authorization"]);
        assert_eq!(unconfigured, ["x-user"]);
    }

    #[test]
    fn removes_impersonation_headers() {
        let mut headers = HeaderMap::new();
        for name in ["Impersonate-User", "Impersonate-Extra-a", "Impersonate-Unknown", "Accept"] {
            headers.insert(name.parse::<HeaderName>().unwrap(), "x".parse().unwrap());
        }
        remove_impersonation(&mut headers);
        assert_eq!(headers.keys().collect::<Vec<_>>(), ["accept"]);
    }
}
