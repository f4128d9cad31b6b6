//! The modes of impersonation: their subjects, the required permissions, and the resulting user.

use std::collections::BTreeMap;

use authz::AuthorizationAttributes;
use machinery::field_error::aggregate;
use machinery::field_path::Path;
use machinery::format::field::domain_prefixed_path;
use request::User;
use request::user::{NODE_USER_PREFIX, NODES_GROUP, SYSTEM_MASTERS, service_account_groups, split_service_account};

/// The extra key of a service account token with the node of its pod
/// (`serviceaccount.NodeNameKey`).
const NODE_NAME: &str = "authentication.kubernetes.io/node-name";
/// The API group of the impersonated resources.
const GROUP: &str = "authentication.k8s.io";

/// The number of groups or extras from which the permission for all is checked first
/// (`manyAuthorizationChecksInLoop`).
const MANY: usize = 4;

/// A mode of impersonation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The node on which the requestor's pod runs.
    AssociatedNode,
    /// Any node.
    ArbitraryNode,
    ServiceAccount,
    /// Any other user, with groups, uid, and extras.
    UserInfo,
    /// Any user, for all actions.
    Legacy,
}

impl Mode {
    /// All modes, in the order in which they are tried.
    pub(super) const ALL: [Mode; 5] =
        [Mode::AssociatedNode, Mode::ArbitraryNode, Mode::ServiceAccount, Mode::UserInfo, Mode::Legacy];

    /// The name of the mode in verbs.
    pub(super) fn name(self) -> &'static str {
        match self {
            Mode::AssociatedNode => "associated-node",
            Mode::ArbitraryNode => "arbitrary-node",
            Mode::ServiceAccount => "serviceaccount",
            Mode::UserInfo => "user-info",
            Mode::Legacy => "",
        }
    }

    /// The name of the mode in metrics.
    pub(super) fn label(self) -> &'static str {
        if self == Mode::Legacy { "legacy" } else { self.name() }
    }

    /// The verb of constrained impersonation.
    pub(super) fn constraint(self) -> String {
        match self {
            Mode::Legacy => String::new(),
            _ => format!("impersonate:{}", self.name()),
        }
    }

    /// Whether the mode supports this user.
    pub(super) fn applies(self, requestor: &User, wanted: &User) -> bool {
        let only_a_name = wanted.uid.is_empty() && wanted.groups.is_empty() && wanted.extra.is_empty();
        let (node, account) = (node_name(wanted), split_service_account(&wanted.name));
        match self {
            Mode::AssociatedNode => only_a_name && node.is_some_and(|node| runs_on(requestor, node)),
            Mode::ArbitraryNode => only_a_name && node.is_some(),
            Mode::ServiceAccount => only_a_name && account.is_some(),
            Mode::UserInfo => node.is_none() && account.is_none(),
            Mode::Legacy => true,
        }
    }

    /// The requirements for impersonating this user.
    pub(super) fn requirements<'a>(self, requestor: &'a User, wanted: &'a User) -> Vec<Requirement<'a>> {
        if self != Mode::UserInfo {
            return self.identities(requestor, wanted).into_iter().map(Requirement::Permission).collect();
        }
        let resource_attributes = |resource: &'a str, name: &'a str| {
            let attributes = AuthorizationAttributes::resource(requestor, self.constraint(), GROUP, resource);
            AuthorizationAttributes { version: "v1", name, ..attributes }
        };
        let mut requirements = vec![Requirement::Permission(resource_attributes("users", &wanted.name))];
        if !wanted.uid.is_empty() {
            requirements.push(Requirement::Permission(resource_attributes("uids", &wanted.uid)));
        }
        let (groups, extra) = (&wanted.groups, &wanted.extra);
        if let Some((group, why)) = forbidden_group(groups) {
            requirements.push(Requirement::Forbidden(resource_attributes("groups", group), why.into()));
        }
        let each = groups.iter().map(|group| resource_attributes("groups", group)).collect();
        requirements.extend(several(each, groups.len() >= MANY, || resource_attributes("groups", "*")));
        if let Some(why) = forbidden_extra(extra) {
            requirements.push(Requirement::Forbidden(resource_attributes("userextras", ""), why));
        }
        let of =
            |subresource, value| AuthorizationAttributes { subresource, ..resource_attributes("userextras", value) };
        let each: Vec<_> = extras(wanted).map(|(key, value)| of(key, value)).collect();
        let is_large = extra.len() >= MANY || each.len() >= MANY;
        requirements.extend(several(each, is_large, || of("*", "*")));
        requirements
    }

    /// The permissions for impersonating this user.
    fn identities<'a>(self, requestor: &'a User, wanted: &'a User) -> Vec<AuthorizationAttributes<'a>> {
        let resource_attributes = |resource: &'a str, name: &'a str| {
            let attributes = AuthorizationAttributes::resource(requestor, self.constraint(), GROUP, resource);
            AuthorizationAttributes { version: "v1", name, ..attributes }
        };
        match self {
            Mode::AssociatedNode => vec![resource_attributes("nodes", "*")],
            Mode::ArbitraryNode => vec![resource_attributes("nodes", node_name(wanted).unwrap_or(""))],
            Mode::ServiceAccount => match split_service_account(&wanted.name) {
                Some((namespace, name)) => {
                    vec![AuthorizationAttributes { namespace, ..resource_attributes("serviceaccounts", name) }]
                }
                None => Vec::new(),
            },
            Mode::UserInfo => Vec::new(),
            Mode::Legacy => legacy(requestor, wanted),
        }
    }

    /// The resulting user, with the groups that follow from the name.
    pub(super) fn impersonated_user(self, wanted: &User) -> User {
        let mut user = wanted.clone();
        match self {
            Mode::AssociatedNode | Mode::ArbitraryNode => user.groups = vec![NODES_GROUP.into()],
            _ => {
                if let Some((namespace, _)) = split_service_account(&wanted.name).filter(|_| wanted.groups.is_empty()) {
                    user.groups = service_account_groups(namespace);
                }
            }
        }
        user
    }
}

/// A requirement for a part of the impersonation.
pub(super) enum Requirement<'a> {
    Permission(AuthorizationAttributes<'a>),
    /// The first permission, or all the others.
    AllOrEach(AuthorizationAttributes<'a>, Vec<AuthorizationAttributes<'a>>),
    /// Not allowed by any permission; has the reason.
    Forbidden(AuthorizationAttributes<'a>, String),
}

/// Requires a permission for each value; for many values the permission for all is sufficient.
fn several<'a>(
    each: Vec<AuthorizationAttributes<'a>>,
    many: bool,
    all: impl FnOnce() -> AuthorizationAttributes<'a>,
) -> Vec<Requirement<'a>> {
    if many {
        vec![Requirement::AllOrEach(all(), each)]
    } else {
        each.into_iter().map(Requirement::Permission).collect()
    }
}

/// The first group that constrained impersonation does not allow, with the reason.
fn forbidden_group(groups: &[String]) -> Option<(&str, &'static str)> {
    let has = |name: &str| groups.iter().any(|group| group == name);
    match () {
        () if has("") => Some(("", "impersonating the empty string group is not allowed")),
        () if has(SYSTEM_MASTERS) => Some((SYSTEM_MASTERS, "impersonating the system:masters group is not allowed")),
        () => None,
    }
}

/// The reason why constrained impersonation does not allow the extras (`validateExtra`).
fn forbidden_extra(extra: &BTreeMap<String, Vec<String>>) -> Option<String> {
    let path = Path::new("extra");
    let path = path.child("key");
    extra.iter().find_map(|(key, values)| {
        let invalid = || aggregate(&domain_prefixed_path(&path, key));
        match () {
            () if key.is_empty() => Some("impersonating the empty string key in extra is not allowed".into()),
            () if !domain_prefixed_path(&path, key).is_empty() => {
                Some(format!("impersonating an invalid key in extra is not allowed: {}", invalid()))
            }
            () if *key != key.to_lowercase() => {
                Some(format!("impersonating a non-lowercase key in extra is not allowed: {key:?}"))
            }
            () if values.is_empty() => Some("impersonating empty values in extra is not allowed".into()),
            () if values.iter().any(String::is_empty) => {
                Some("impersonating the empty string value in extra is not allowed".into())
            }
            () => None,
        }
    })
}

/// The permissions of the verb `impersonate`; users, groups, and service accounts are in the core
/// group.
fn legacy<'a>(requestor: &'a User, wanted: &'a User) -> Vec<AuthorizationAttributes<'a>> {
    let resource_attributes = |group: &'a str, resource: &'a str, name: &'a str| AuthorizationAttributes {
        version: "v1",
        name,
        ..AuthorizationAttributes::resource(requestor, "impersonate", group, resource)
    };
    let user = match split_service_account(&wanted.name) {
        Some((namespace, name)) => {
            AuthorizationAttributes { namespace, ..resource_attributes("", "serviceaccounts", name) }
        }
        None => resource_attributes("", "users", &wanted.name),
    };
    let groups = wanted.groups.iter().map(|group| resource_attributes("", "groups", group));
    let extra = extras(wanted).map(|(subresource, value)| AuthorizationAttributes {
        subresource,
        ..resource_attributes(GROUP, "userextras", value)
    });
    let uid =
        Some(wanted.uid.as_str()).filter(|uid| !uid.is_empty()).map(|uid| resource_attributes(GROUP, "uids", uid));
    std::iter::once(user).chain(groups).chain(extra).chain(uid).collect()
}

fn extras(user: &User) -> impl Iterator<Item = (&str, &str)> {
    user.extra.iter().flat_map(|(key, values)| values.iter().map(move |value| (key.as_str(), value.as_str())))
}

fn node_name(user: &User) -> Option<&str> {
    user.name.strip_prefix(NODE_USER_PREFIX).filter(|node| !node.is_empty())
}

/// Whether the requestor is a service account with a pod on this node.
fn runs_on(requestor: &User, node: &str) -> bool {
    split_service_account(&requestor.name).is_some()
        && requestor.extra.get(NODE_NAME).is_some_and(|names| matches!(names.as_slice(), [name] if name == node))
}
