//! The ways to impersonate: whom each is for, which rights it takes, and who comes out.

use std::collections::BTreeMap;

use machinery::field_error::aggregate;
use machinery::field_path::Path;
use machinery::format::field::domain_prefixed_path;

use crate::authorization::Attributes;
use crate::user::{NODE_USER_PREFIX, NODES_GROUP, SYSTEM_MASTERS, User, service_account_groups, split_service_account};

/// Where a service account's token says which node its pod runs on (`serviceaccount.NodeNameKey`).
const NODE_NAME: &str = "authentication.kubernetes.io/node-name";
/// The group of the things that are impersonated.
const GROUP: &str = "authentication.k8s.io";

/// From how many groups or extras on the right to all of them is looked up first (`manyAuthorizationChecksInLoop`).
const MANY: usize = 4;

/// A way to impersonate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The node that the requestor's pod runs on.
    AssociatedNode,
    /// Any node.
    ArbitraryNode,
    ServiceAccount,
    /// Anybody else, with groups, uid and extras.
    UserInfo,
    /// Anybody, for everything.
    Legacy,
}

impl Mode {
    /// In the order they are tried.
    pub(super) const ALL: [Mode; 5] =
        [Mode::AssociatedNode, Mode::ArbitraryNode, Mode::ServiceAccount, Mode::UserInfo, Mode::Legacy];

    /// The mode as verbs name it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Mode::AssociatedNode => "associated-node",
            Mode::ArbitraryNode => "arbitrary-node",
            Mode::ServiceAccount => "serviceaccount",
            Mode::UserInfo => "user-info",
            Mode::Legacy => "",
        }
    }

    /// The mode as metrics name it.
    pub(super) fn label(self) -> &'static str {
        if self == Mode::Legacy { "legacy" } else { self.name() }
    }

    /// The verb that allows it, of constrained impersonation.
    pub(super) fn constraint(self) -> String {
        match self {
            Mode::Legacy => String::new(),
            _ => format!("impersonate:{}", self.name()),
        }
    }

    /// Whether the mode is for such a user.
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

    /// What it takes to be this user.
    pub(super) fn demands<'a>(self, requestor: &'a User, wanted: &'a User) -> Vec<Demand<'a>> {
        if self != Mode::UserInfo {
            return self.identities(requestor, wanted).into_iter().map(Demand::Right).collect();
        }
        let thing = |resource: &'a str, name: &'a str| {
            let attributes = Attributes::resource(requestor, self.constraint(), GROUP, resource);
            Attributes { version: "v1", name, ..attributes }
        };
        let mut demands = vec![Demand::Right(thing("users", &wanted.name))];
        if !wanted.uid.is_empty() {
            demands.push(Demand::Right(thing("uids", &wanted.uid)));
        }
        let (groups, extra) = (&wanted.groups, &wanted.extra);
        if let Some((group, why)) = never_a_group(groups) {
            demands.push(Demand::Never(thing("groups", group), why.into()));
        }
        let each = groups.iter().map(|group| thing("groups", group)).collect();
        demands.extend(several(each, groups.len() >= MANY, || thing("groups", "*")));
        if let Some(why) = never_an_extra(extra) {
            demands.push(Demand::Never(thing("userextras", ""), why));
        }
        let of = |subresource, value| Attributes { subresource, ..thing("userextras", value) };
        let each: Vec<_> = extras(wanted).map(|(key, value)| of(key, value)).collect();
        let is_large = extra.len() >= MANY || each.len() >= MANY;
        demands.extend(several(each, is_large, || of("*", "*")));
        demands
    }

    /// The rights it takes to be this user.
    fn identities<'a>(self, requestor: &'a User, wanted: &'a User) -> Vec<Attributes<'a>> {
        let thing = |resource: &'a str, name: &'a str| {
            let attributes = Attributes::resource(requestor, self.constraint(), GROUP, resource);
            Attributes { version: "v1", name, ..attributes }
        };
        match self {
            Mode::AssociatedNode => vec![thing("nodes", "*")],
            Mode::ArbitraryNode => vec![thing("nodes", node_name(wanted).unwrap_or(""))],
            Mode::ServiceAccount => match split_service_account(&wanted.name) {
                Some((namespace, name)) => vec![Attributes { namespace, ..thing("serviceaccounts", name) }],
                None => Vec::new(),
            },
            Mode::UserInfo => Vec::new(),
            Mode::Legacy => legacy(requestor, wanted),
        }
    }

    /// The wanted user, with the groups that follow from the name.
    pub(super) fn becomes(self, wanted: &User) -> User {
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

/// What it takes for a part of impersonation.
pub(super) enum Demand<'a> {
    Right(Attributes<'a>),
    /// The first right, or all the others.
    Instead(Attributes<'a>, Vec<Attributes<'a>>),
    /// No right is enough, for this reason.
    Never(Attributes<'a>, String),
}

/// Rights to several things; to many of them, the right to all is enough.
fn several<'a>(each: Vec<Attributes<'a>>, many: bool, all: impl FnOnce() -> Attributes<'a>) -> Vec<Demand<'a>> {
    if many { vec![Demand::Instead(all(), each)] } else { each.into_iter().map(Demand::Right).collect() }
}

/// Of groups, one that no constrained right lets anybody into, and what is said about it.
fn never_a_group(groups: &[String]) -> Option<(&str, &'static str)> {
    let has = |name: &str| groups.iter().any(|group| group == name);
    match () {
        () if has("") => Some(("", "impersonating the empty string group is not allowed")),
        () if has(SYSTEM_MASTERS) => Some((SYSTEM_MASTERS, "impersonating the system:masters group is not allowed")),
        () => None,
    }
}

/// What is wrong with extras that no constrained right lets anybody have (`validateExtra`).
fn never_an_extra(extra: &BTreeMap<String, Vec<String>>) -> Option<String> {
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

/// The rights of the verb `impersonate`, which has users, groups and service accounts in the core group.
fn legacy<'a>(requestor: &'a User, wanted: &'a User) -> Vec<Attributes<'a>> {
    let thing = |group: &'a str, resource: &'a str, name: &'a str| Attributes {
        version: "v1",
        name,
        ..Attributes::resource(requestor, "impersonate", group, resource)
    };
    let user = match split_service_account(&wanted.name) {
        Some((namespace, name)) => Attributes { namespace, ..thing("", "serviceaccounts", name) },
        None => thing("", "users", &wanted.name),
    };
    let groups = wanted.groups.iter().map(|group| thing("", "groups", group));
    let extra =
        extras(wanted).map(|(subresource, value)| Attributes { subresource, ..thing(GROUP, "userextras", value) });
    let uid = Some(wanted.uid.as_str()).filter(|uid| !uid.is_empty()).map(|uid| thing(GROUP, "uids", uid));
    std::iter::once(user).chain(groups).chain(extra).chain(uid).collect()
}

fn extras(user: &User) -> impl Iterator<Item = (&str, &str)> {
    user.extra.iter().flat_map(|(key, values)| values.iter().map(move |value| (key.as_str(), value.as_str())))
}

fn node_name(user: &User) -> Option<&str> {
    user.name.strip_prefix(NODE_USER_PREFIX).filter(|node| !node.is_empty())
}

/// Whether the requestor is a service account whose pod runs on this node.
fn runs_on(requestor: &User, node: &str) -> bool {
    split_service_account(&requestor.name).is_some()
        && requestor.extra.get(NODE_NAME).is_some_and(|names| matches!(names.as_slice(), [name] if name == node))
}
