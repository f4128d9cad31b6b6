//! The ways to impersonate: whom each is for, which rights it takes, and who comes out.

use crate::authorization::Attributes;
use crate::user::{NODE_USER_PREFIX, NODES_GROUP, User, service_account_groups, split_service_account};

/// Where a service account's token says which node its pod runs on (`serviceaccount.NodeNameKey`).
const NODE_NAME: &str = "authentication.kubernetes.io/node-name";
/// The group of the things that are impersonated.
const GROUP: &str = "authentication.k8s.io";

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

    /// The rights it takes to be this user.
    pub(super) fn identities<'a>(self, requestor: &'a User, wanted: &'a User) -> Vec<Attributes<'a>> {
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
            Mode::UserInfo => {
                let uid = Some(wanted.uid.as_str()).filter(|uid| !uid.is_empty()).map(|uid| thing("uids", uid));
                let groups = wanted.groups.iter().map(|group| thing("groups", group));
                let extra =
                    extras(wanted).map(|(subresource, value)| Attributes { subresource, ..thing("userextras", value) });
                std::iter::once(thing("users", &wanted.name)).chain(uid).chain(groups).chain(extra).collect()
            }
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
