//! Users (upstream: `user.Info`, `user.DefaultInfo`).

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;

/// Members are allowed everything, independent of the authorizers (`user.SystemPrivilegedGroup`).
pub const SYSTEM_MASTERS: &str = "system:masters";
/// The group of monitoring clients.
pub const SYSTEM_MONITORING: &str = "system:monitoring";
/// The group of kubelets (`user.NodesGroup`).
pub const NODES_GROUP: &str = "system:nodes";
/// The group of all authenticated users (`user.AllAuthenticated`).
pub const ALL_AUTHENTICATED: &str = "system:authenticated";
/// The group of all unauthenticated users (`user.AllUnauthenticated`).
pub const ALL_UNAUTHENTICATED: &str = "system:unauthenticated";
/// The user of requests without credentials (`user.Anonymous`).
pub const ANONYMOUS: &str = "system:anonymous";
/// The prefix of the user names of kubelets.
pub const NODE_USER_PREFIX: &str = "system:node:";

const SERVICE_ACCOUNT_PREFIX: &str = "system:serviceaccount:";
const SERVICE_ACCOUNT_GROUP: &str = "system:serviceaccounts";

/// An authenticated user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct User {
    pub name: String,
    /// Distinguishes users that had the same name at different times; empty when the authenticator
    /// provides none.
    pub uid: String,
    pub groups: Vec<String>,
    /// Additional attributes from the authenticator for authorizers; keys are lower case.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// Creates a user with a name and groups.
    pub fn new(name: impl Into<String>, groups: impl IntoIterator<Item = impl Into<String>>) -> Self {
        User { name: name.into(), groups: groups.into_iter().map(Into::into).collect(), ..User::default() }
    }

    /// The user of requests without credentials.
    pub fn anonymous() -> Self {
        User::new(ANONYMOUS, [ALL_UNAUTHENTICATED])
    }

    /// Adds `system:authenticated` (upstream: `group.AuthenticatedGroupAdder`).
    pub fn with_authenticated_group(mut self) -> Self {
        if !self.is_in(ALL_AUTHENTICATED) && !self.is_in(ALL_UNAUTHENTICATED) {
            self.groups.push(ALL_AUTHENTICATED.into());
        }
        self
    }

    /// Returns the node name of a kubelet, or `None` for other users. The name is empty if the user
    /// name lacks it (upstream: `nodeidentifier.NodeIdentity`).
    pub fn node(&self) -> Option<&str> {
        let node = self.name.strip_prefix(NODE_USER_PREFIX)?;
        self.is_in(NODES_GROUP).then_some(node)
    }

    /// Whether the user is a member of the group.
    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|g| g == group)
    }
}

/// The namespace and name of a service account, from its user name
/// (`serviceaccount.SplitUsername`).
pub fn split_service_account(user_name: &str) -> Option<(&str, &str)> {
    let (namespace, name) = user_name.strip_prefix(SERVICE_ACCOUNT_PREFIX)?.split_once(':')?;
    (is_dns_label(namespace) && is_dns_subdomain(name)).then_some((namespace, name))
}

/// The user name of a service account (`serviceaccount.MakeUsername`).
pub fn service_account_user_name(namespace: &str, name: &str) -> String {
    format!("{SERVICE_ACCOUNT_PREFIX}{namespace}:{name}")
}

/// The groups of a namespace's service accounts (`serviceaccount.MakeGroupNames`).
pub fn service_account_groups(namespace: &str) -> Vec<String> {
    vec![SERVICE_ACCOUNT_GROUP.into(), format!("{SERVICE_ACCOUNT_GROUP}:{namespace}")]
}

/// Percent-decodes the key of an extra in a header name; returns it unchanged if it is invalid.
pub fn unescaped_extra_key(key: &str) -> String {
    let bytes = key.as_bytes();
    let broken =
        |i: usize| bytes[i] == b'%' && !bytes.get(i + 1..i + 3).is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit));
    if (0..bytes.len()).any(broken) {
        return key.to_owned();
    }
    percent_decode_str(key).decode_utf8().map_or_else(|_| key.to_owned(), |k| k.into_owned())
}

fn is_dns_label(text: &str) -> bool {
    let alphanumeric = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = text.as_bytes();
    matches!(bytes, [first, .., last] | [first @ last] if alphanumeric(*first) && alphanumeric(*last))
        && bytes.len() <= 63
        && bytes.iter().all(|b| alphanumeric(*b) || *b == b'-')
}

fn is_dns_subdomain(text: &str) -> bool {
    text.len() <= 253
        && text.split('.').all(|label| is_dns_label(label) || (label.len() > 63 && is_dns_label(&label[..63])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_service_account_user_names() {
        assert_eq!(split_service_account("system:serviceaccount:default:robot"), Some(("default", "robot")));
        assert_eq!(split_service_account("system:serviceaccount:default:a.b-c"), Some(("default", "a.b-c")));
        for name in [
            "bob",
            "system:serviceaccount:default",
            "system:serviceaccount:a.b:robot",
            "system:serviceaccount:d:a:b",
            "system:serviceaccount::x",
        ] {
            assert_eq!(split_service_account(name), None, "{name}");
        }
        assert_eq!(service_account_user_name("a", "b"), "system:serviceaccount:a:b");
        assert_eq!(service_account_groups("a"), ["system:serviceaccounts", "system:serviceaccounts:a"]);
    }
}
