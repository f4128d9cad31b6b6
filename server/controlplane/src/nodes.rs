//! The node authorizer: kubelets may read objects that their pods need, and write their own objects
//! (upstream: `plugin/pkg/auth/authorizer/node`).

mod denial;
mod graph;
mod references;
mod vertex;

use authz::{AuthorizationAttributes, Authorizer, Decision, PolicyRule, UserRules};
use machinery::features::{self, FeatureGates};
use machinery::selector::FieldRequirement;
use registry::Informers;
use request::{BoxFuture, User};

use crate::Error;
use denial::DenialReason;
use denial::NODE_LEASES;
use graph::Graph;
use vertex::VertexType;

/// The role with the rules for requests that do not depend on the node.
const ROLE: &str = "system:node";

/// Authorizes requests of kubelets. It has no opinion on requests of other users.
pub struct NodeAuthorizer {
    graph: Graph,
    rules: Vec<PolicyRule>,
    gates: Gates,
}

/// The feature gates that upstream's authorizer inspects; `AuthorizeNodeWithSelectors` is locked on.
#[derive(Clone, Copy, Debug)]
struct Gates {
    /// `PodCertificateRequest`
    pod_certificates: bool,
    /// `KubeletServiceAccountTokenForCredentialProviders`
    credential_providers: bool,
}

impl Gates {
    fn of(features: &FeatureGates) -> Self {
        Gates {
            pod_certificates: features.enabled(features::PodCertificateRequest),
            credential_providers: features.enabled(features::KubeletServiceAccountTokenForCredentialProviders),
        }
    }
}

impl NodeAuthorizer {
    /// Starts the informers of objects that relate other objects to nodes. Needs a tokio runtime.
    ///
    /// # Errors
    /// When the embedded bootstrap policy is invalid.
    pub fn start(informers: &Informers, features: &FeatureGates) -> Result<Self, Error> {
        let policy = crate::rbac::BootstrapPolicy::load(features)?;
        let role = policy.cluster_roles.iter().find(|role| role.metadata.name == ROLE);
        Ok(NodeAuthorizer {
            graph: Graph::start(informers.stores()),
            rules: role.map(|role| crate::rbac::rules(&role.rules)).unwrap_or_default(),
            gates: Gates::of(features),
        })
    }

    fn check(&self, request: &AuthorizationAttributes<'_>) -> Result<(), DenialReason> {
        let Some(node) = request.user.node() else { return Err(DenialReason::NoRule) };
        if node.is_empty() {
            return Err(DenialReason::UnknownNode { user: request.user.name.clone() });
        }
        if request.is_resource_request {
            match (request.group, request.resource) {
                ("", "secrets") => return self.read_one(node, VertexType::Secret, request),
                ("", "configmaps") => return self.read_one(node, VertexType::ConfigMap, request),
                ("", "persistentvolumeclaims") if request.subresource == "status" => {
                    return self.update_claim(node, request);
                }
                ("", "persistentvolumeclaims") => return self.get(node, VertexType::Claim, request),
                ("", "persistentvolumes") => return self.get(node, VertexType::Volume, request),
                ("resource.k8s.io", "resourceclaims") => return self.get(node, VertexType::ResourceClaim, request),
                ("storage.k8s.io", "volumeattachments") => {
                    return self.get(node, VertexType::VolumeAttachment, request);
                }
                ("", "serviceaccounts") => return self.service_account(node, request),
                ("coordination.k8s.io", "leases") => return lease(node, request),
                ("storage.k8s.io", "csinodes") => return csi_node(node, request),
                ("resource.k8s.io", "resourceslices") => return self.resource_slice(node, request),
                ("certificates.k8s.io", "podcertificaterequests") => return self.pod_certificate(node, request),
                ("", "nodes") => return own_node(node, request),
                ("", "pods") => return self.pod(node, request),
                _ => {}
            }
        }
        if self.rules.iter().any(|rule| rule.allows(request)) { Ok(()) } else { Err(DenialReason::NoRule) }
    }

    fn related(&self, node: &str, kind: VertexType, request: &AuthorizationAttributes<'_>) -> Result<(), DenialReason> {
        if request.name.is_empty() {
            return Err(DenialReason::NoName);
        }
        match self.graph.relates(kind, request.namespace, request.name, node) {
            true => Ok(()),
            false => Err(DenialReason::Unrelated { node: node.to_owned() }),
        }
    }

    fn read_one(
        &self,
        node: &str,
        kind: VertexType,
        request: &AuthorizationAttributes<'_>,
    ) -> Result<(), DenialReason> {
        allow(matches!(&*request.verb, "get" | "list" | "watch"), "can only read resources of this type")?;
        allow(request.subresource.is_empty(), "cannot read subresource")?;
        allow(!request.namespace.is_empty(), "can only read namespaced object of this type")?;
        self.related(node, kind, request)
    }

    fn get(&self, node: &str, kind: VertexType, request: &AuthorizationAttributes<'_>) -> Result<(), DenialReason> {
        allow(request.verb == "get", "can only get individual resources of this type")?;
        allow(request.subresource.is_empty(), "cannot get subresource")?;
        self.related(node, kind, request)
    }

    fn update_claim(&self, node: &str, request: &AuthorizationAttributes<'_>) -> Result<(), DenialReason> {
        allow(matches!(&*request.verb, "update" | "patch"), "can only get/update/patch this type")?;
        self.related(node, VertexType::Claim, request)
    }

    fn service_account(&self, node: &str, request: &AuthorizationAttributes<'_>) -> Result<(), DenialReason> {
        if request.verb != "get" || !request.subresource.is_empty() {
            return self.create_token(node, request);
        }
        let reads = self.gates.credential_providers || self.gates.pod_certificates;
        allow(reads, "not allowed to get service accounts")?;
        self.read_one(node, VertexType::ServiceAccount, request)
    }

    fn pod_certificate(&self, node: &str, request: &AuthorizationAttributes<'_>) -> Result<(), DenialReason> {
        if !self.gates.pod_certificates {
            return Err(DenialReason::NoRule);
        }
        let status = "nodes may not access the status subresource of PodCertificateRequests";
        allow(request.subresource.is_empty(), status)?;
        match &*request.verb {
            // NodeRestriction checks the content.
            "create" => Ok(()),
            "get" => self.related(node, VertexType::PodCertificateRequest, request),
            "list" | "watch" => allow(
                selects(request, "spec.nodeName", node),
                "can only list/watch podcertificaterequests with nodeName field selector",
            ),
            verb => Err(DenialReason::CertificateVerb { verb: verb.to_owned() }),
        }
    }

    fn create_token(&self, node: &str, request: &AuthorizationAttributes<'_>) -> Result<(), DenialReason> {
        let one = request.verb == "create" && !request.name.is_empty();
        allow(one, "can only create tokens for individual service accounts")?;
        allow(request.subresource == "token", "can only create token subresource of serviceaccount")?;
        self.related(node, VertexType::ServiceAccount, request)
    }

    fn resource_slice(&self, node: &str, request: &AuthorizationAttributes<'_>) -> Result<(), DenialReason> {
        allow(request.subresource.is_empty(), "cannot authorize ResourceSlice subresources")?;
        match &*request.verb {
            // NodeRestriction checks the node name in the object.
            "create" => Ok(()),
            "get" | "update" | "patch" | "delete" => self.related(node, VertexType::ResourceSlice, request),
            "watch" | "list" | "deletecollection" => allow(
                selects(request, "spec.nodeName", node),
                "can only list/watch/deletecollection resourceslices with nodeName field selector",
            ),
            _ => Err(DenialReason::Scope(
                "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection",
            )),
        }
    }

    fn pod(&self, node: &str, request: &AuthorizationAttributes<'_>) -> Result<(), DenialReason> {
        match (request.subresource, &*request.verb) {
            ("", "get") => self.get(node, VertexType::Pod, request),
            ("", "list" | "watch") if selects(request, "spec.nodeName", node) => Ok(()),
            ("", "list" | "watch") if !request.name.is_empty() => self.related(node, VertexType::Pod, request),
            ("", "list" | "watch") => {
                Err(DenialReason::Scope("can only list/watch pods with spec.nodeName field selector"))
            }
            // NodeRestriction checks the pod.
            ("", "create" | "delete") | ("status", "update" | "patch") | ("eviction", "create") => Ok(()),
            _ => Err(DenialReason::NoRule),
        }
    }
}

fn allow(holds: bool, otherwise: &'static str) -> Result<(), DenialReason> {
    if holds { Ok(()) } else { Err(DenialReason::Scope(otherwise)) }
}

fn selects(request: &AuthorizationAttributes<'_>, field: &str, node: &str) -> bool {
    request
        .selectors
        .fields
        .iter()
        .any(|term: &FieldRequirement| term.field == field && term.equal && term.value == node)
}

fn lease(node: &str, request: &AuthorizationAttributes<'_>) -> Result<(), DenialReason> {
    let verbs = matches!(&*request.verb, "get" | "create" | "update" | "patch" | "delete");
    allow(verbs, "can only get, create, update, patch, or delete a node lease")?;
    if request.namespace != NODE_LEASES {
        return Err(DenialReason::LeaseNamespace);
    }
    let own = request.verb == "create" || request.name == node;
    allow(own, "can only access node lease with the same name as the requesting node")
}

fn csi_node(node: &str, request: &AuthorizationAttributes<'_>) -> Result<(), DenialReason> {
    let verbs = matches!(&*request.verb, "get" | "create" | "update" | "patch" | "delete");
    allow(verbs, "can only get, create, update, patch, or delete a CSINode")?;
    allow(request.subresource.is_empty(), "cannot authorize CSINode subresources")?;
    let own = request.verb == "create" || request.name == node;
    allow(own, "can only access CSINode with the same name as the requesting node")
}

fn own_node(node: &str, request: &AuthorizationAttributes<'_>) -> Result<(), DenialReason> {
    match (request.subresource, &*request.verb, request.name) {
        ("", "create" | "update" | "patch", _) | ("status", "update" | "patch", _) => Ok(()),
        ("", "get" | "list" | "watch", name) if name == node => Ok(()),
        ("", "get" | "list" | "watch", "") => Err(DenialReason::AllNodes { node: node.to_owned() }),
        ("", "get" | "list" | "watch", name) => {
            Err(DenialReason::OtherNode { node: node.to_owned(), name: name.to_owned() })
        }
        _ => Err(DenialReason::NoRule),
    }
}

impl Authorizer for NodeAuthorizer {
    fn authorize<'a>(&'a self, attributes: &'a AuthorizationAttributes<'a>) -> BoxFuture<'a, Decision> {
        let decision = match self.check(attributes) {
            Ok(()) => Decision::Allow("".into()),
            Err(refusal) => Decision::NoOpinion(refusal.to_string().into()),
        };
        Box::pin(std::future::ready(decision))
    }

    fn rules<'a>(&'a self, user: &'a User, _: &'a str) -> BoxFuture<'a, UserRules> {
        let rules = match user.node() {
            Some(_) => UserRules {
                incomplete: true,
                errors: vec!["node authorizer does not support user rule resolution".into()],
                ..UserRules::default()
            },
            None => UserRules::default(),
        };
        Box::pin(std::future::ready(rules))
    }
}

#[cfg(test)]
mod tests;
