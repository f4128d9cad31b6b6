//! What kubelets may do: read what their own pods need, and write about themselves (upstream: `plugin/pkg/auth/authorizer/node`).

mod graph;
mod references;

use machinery::selector::FieldRequirement;
use registry::Informers;
use serving::BoxFuture;
use serving::User;
use serving::authorization::rbac::PolicyRule;
use serving::authorization::{Attributes, Authorizer, Decision, Rules};
use serving::user::{NODE_USER_PREFIX, NODES_GROUP};

use graph::{Graph, Kind};

/// The namespace of the leases by which kubelets say that they live.
const NODE_LEASES: &str = "kube-node-lease";
/// The role whose rules hold for everything that is not divided among nodes.
const ROLE: &str = "system:node";

/// Judges the requests of kubelets, and has no opinion of others.
pub struct NodeAuthorizer {
    graph: Graph,
    rules: Vec<PolicyRule>,
    /// Whether nodes and pods are divided among nodes too (`AuthorizeNodeWithSelectors`).
    by_selectors: bool,
}

impl NodeAuthorizer {
    /// Begins to follow what relates objects to nodes. Needs a tokio runtime.
    ///
    /// # Errors
    /// When the policy that the program carries cannot be read.
    pub fn start(informers: &Informers, features: &machinery::features::FeatureGates) -> Result<Self, String> {
        let policy = crate::rbac::Policy::load(features)?;
        let role = policy.cluster_roles.iter().find(|role| role.metadata.name == ROLE);
        Ok(NodeAuthorizer {
            graph: Graph::start(informers.stores()),
            rules: role.map(|role| crate::rbac::rules(&role.rules)).unwrap_or_default(),
            by_selectors: features.enabled("AuthorizeNodeWithSelectors"),
        })
    }

    fn judge(&self, wish: &Attributes<'_>) -> Result<(), String> {
        let Some(node) = node_of(wish.user) else { return Err(String::new()) };
        if node.is_empty() {
            return Err(format!("unknown node for user {:?}", wish.user.name));
        }
        if wish.is_resource_request {
            match (wish.group, wish.resource) {
                ("", "secrets") => return self.read_one(node, Kind::Secret, wish),
                ("", "configmaps") => return self.read_one(node, Kind::ConfigMap, wish),
                ("", "persistentvolumeclaims") if wish.subresource == "status" => return self.update_claim(node, wish),
                ("", "persistentvolumeclaims") => return self.get(node, Kind::Claim, wish),
                ("", "persistentvolumes") => return self.get(node, Kind::Volume, wish),
                ("resource.k8s.io", "resourceclaims") => return self.get(node, Kind::ResourceClaim, wish),
                ("storage.k8s.io", "volumeattachments") => return self.get(node, Kind::VolumeAttachment, wish),
                ("", "serviceaccounts") => return self.create_token(node, wish),
                ("coordination.k8s.io", "leases") => return lease(node, wish),
                ("storage.k8s.io", "csinodes") => return csi_node(node, wish),
                ("resource.k8s.io", "resourceslices") => return self.resource_slice(node, wish),
                ("", "nodes") if self.by_selectors => return own_node(node, wish),
                ("", "pods") if self.by_selectors => return self.pod(node, wish),
                _ => {}
            }
        }
        if self.rules.iter().any(|rule| rule.allows(wish)) { Ok(()) } else { Err(String::new()) }
    }

    fn related(&self, node: &str, kind: Kind, wish: &Attributes<'_>) -> Result<(), String> {
        if wish.name.is_empty() {
            return Err("No Object name found".into());
        }
        match self.graph.relates(kind, wish.namespace, wish.name, node) {
            true => Ok(()),
            false => Err(format!("no relationship found between node '{node}' and this object")),
        }
    }

    fn read_one(&self, node: &str, kind: Kind, wish: &Attributes<'_>) -> Result<(), String> {
        allow(matches!(&*wish.verb, "get" | "list" | "watch"), "can only read resources of this type")?;
        allow(wish.subresource.is_empty(), "cannot read subresource")?;
        allow(!wish.namespace.is_empty(), "can only read namespaced object of this type")?;
        self.related(node, kind, wish)
    }

    fn get(&self, node: &str, kind: Kind, wish: &Attributes<'_>) -> Result<(), String> {
        allow(wish.verb == "get", "can only get individual resources of this type")?;
        allow(wish.subresource.is_empty(), "cannot get subresource")?;
        self.related(node, kind, wish)
    }

    fn update_claim(&self, node: &str, wish: &Attributes<'_>) -> Result<(), String> {
        allow(matches!(&*wish.verb, "update" | "patch"), "can only get/update/patch this type")?;
        self.related(node, Kind::Claim, wish)
    }

    fn create_token(&self, node: &str, wish: &Attributes<'_>) -> Result<(), String> {
        let one = wish.verb == "create" && !wish.name.is_empty();
        allow(one, "can only create tokens for individual service accounts")?;
        allow(wish.subresource == "token", "can only create token subresource of serviceaccount")?;
        self.related(node, Kind::ServiceAccount, wish)
    }

    fn resource_slice(&self, node: &str, wish: &Attributes<'_>) -> Result<(), String> {
        allow(wish.subresource.is_empty(), "cannot authorize ResourceSlice subresources")?;
        match &*wish.verb {
            // Whose it is stands in the object; admission looks at that (NodeRestriction).
            "create" => Ok(()),
            "get" | "update" | "patch" | "delete" => self.related(node, Kind::ResourceSlice, wish),
            "watch" | "list" | "deletecollection" => allow(
                !self.by_selectors || selects(wish, "nodeName", node),
                "can only list/watch/deletecollection resourceslices with nodeName field selector",
            ),
            _ => Err("only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection".into()),
        }
    }

    fn pod(&self, node: &str, wish: &Attributes<'_>) -> Result<(), String> {
        match (wish.subresource, &*wish.verb) {
            ("", "get") => self.get(node, Kind::Pod, wish),
            ("", "list" | "watch") if selects(wish, "spec.nodeName", node) => Ok(()),
            ("", "list" | "watch") if !wish.name.is_empty() => self.related(node, Kind::Pod, wish),
            ("", "list" | "watch") => Err("can only list/watch pods with spec.nodeName field selector".into()),
            // Which pods these may be is for admission to say (NodeRestriction).
            ("", "create" | "delete") | ("status", "update" | "patch") | ("eviction", "create") => Ok(()),
            _ => Err(String::new()),
        }
    }
}

/// The node of a kubelet; empty when it does not say which one it is (`nodeidentifier.NodeIdentity`).
fn node_of(user: &User) -> Option<&str> {
    let node = user.name.strip_prefix(NODE_USER_PREFIX)?;
    user.is_in(NODES_GROUP).then_some(node)
}

fn allow(holds: bool, otherwise: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

fn selects(wish: &Attributes<'_>, field: &str, node: &str) -> bool {
    wish.selectors.fields.iter().any(|term: &FieldRequirement| term.field == field && term.equal && term.value == node)
}

fn lease(node: &str, wish: &Attributes<'_>) -> Result<(), String> {
    let verbs = matches!(&*wish.verb, "get" | "create" | "update" | "patch" | "delete");
    allow(verbs, "can only get, create, update, patch, or delete a node lease")?;
    let elsewhere = format!("can only access leases in the {NODE_LEASES:?} system namespace");
    allow(wish.namespace == NODE_LEASES, &elsewhere)?;
    let own = wish.verb == "create" || wish.name == node;
    allow(own, "can only access node lease with the same name as the requesting node")
}

fn csi_node(node: &str, wish: &Attributes<'_>) -> Result<(), String> {
    let verbs = matches!(&*wish.verb, "get" | "create" | "update" | "patch" | "delete");
    allow(verbs, "can only get, create, update, patch, or delete a CSINode")?;
    allow(wish.subresource.is_empty(), "cannot authorize CSINode subresources")?;
    let own = wish.verb == "create" || wish.name == node;
    allow(own, "can only access CSINode with the same name as the requesting node")
}

fn own_node(node: &str, wish: &Attributes<'_>) -> Result<(), String> {
    match (wish.subresource, &*wish.verb, wish.name) {
        ("", "create" | "update" | "patch", _) | ("status", "update" | "patch", _) => Ok(()),
        ("", "get" | "list" | "watch", name) if name == node => Ok(()),
        ("", "get" | "list" | "watch", "") => {
            Err(format!("node '{node}' cannot read all nodes, only its own Node object"))
        }
        ("", "get" | "list" | "watch", name) => {
            Err(format!("node '{node}' cannot read '{name}', only its own Node object"))
        }
        _ => Err(String::new()),
    }
}

impl Authorizer for NodeAuthorizer {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> BoxFuture<'a, Decision> {
        let decision = match self.judge(attributes) {
            Ok(()) => Decision::Allow("".into()),
            Err(why) => Decision::NoOpinion(why.into()),
        };
        Box::pin(std::future::ready(decision))
    }

    fn rules<'a>(&'a self, user: &'a User, _: &'a str) -> BoxFuture<'a, Rules> {
        let rules = match node_of(user) {
            Some(_) => Rules {
                incomplete: true,
                errors: vec!["node authorizer does not support user rule resolution".into()],
                ..Rules::default()
            },
            None => Rules::default(),
        };
        Box::pin(std::future::ready(rules))
    }
}

#[cfg(test)]
mod tests;
