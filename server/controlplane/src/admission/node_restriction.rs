//! `NodeRestriction`: kubelets write what is their own: their node, its lease and CSINode, the pods that run on it, tokens of those pods.

use std::collections::BTreeSet;

use endpoints::{Attributes, Environment, Operation};
use generated::authentication::v1::TokenRequest;
use generated::core::v1::{Node, Pod};
use machinery::reflect::Owned;
use machinery::status::Status;

use super::forbidden;
use super::lookup::find;

const NODES_GROUP: &str = "system:nodes";
const USER_PREFIX: &str = "system:node:";
const MIRROR: &str = "kubernetes.io/config.mirror";
const LEASE_NAMESPACE: &str = "kube-node-lease";
const RESTRICTED_DOMAIN: &str = "node-restriction.kubernetes.io";
/// Labels of Kubernetes' domains that a kubelet may set on its node.
const OWN_LABELS: [&str; 12] = [
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "node.kubernetes.io/windows-build",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];
const OWN_DOMAINS: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];

/// Refuses what a kubelet has no business with. Other users are let by.
pub async fn validate(
    environment: &Environment,
    attributes: &Attributes,
    object: Option<&Owned>,
    old: Option<&Owned>,
) -> Result<(), Status> {
    let Some(node) = attributes.user.name.strip_prefix(USER_PREFIX).filter(|_| attributes.user.is_in(NODES_GROUP))
    else {
        return Ok(());
    };
    let check = Check { environment, attributes, node };
    let outcome = match (attributes.kind.group, attributes.plural, attributes.subresource.as_str()) {
        ("", "pods", "") => check.pod(object, old).await,
        ("", "pods", "status") => check.pod_status(old),
        ("", "pods", "eviction") => check.eviction().await,
        ("", "nodes", _) => check.node(object, old),
        ("", "persistentvolumeclaims", "status") => Ok(()),
        ("", "persistentvolumeclaims", _) => Err(check.unexpected_operation()),
        (_, "serviceaccounts", "token") => check.token(object).await,
        ("coordination.k8s.io", "leases", _) => check.lease(),
        ("storage.k8s.io", "csinodes", _) => check.csi_node(),
        _ => Ok(()),
    };
    outcome.map_err(|why| forbidden(attributes, why))
}

struct Check<'r> {
    environment: &'r Environment,
    attributes: &'r Attributes,
    node: &'r str,
}

type Outcome = Result<(), String>;

impl Check<'_> {
    fn unexpected_operation(&self) -> String {
        let operation = match self.attributes.operation {
            Operation::Create => "CREATE",
            Operation::Update => "UPDATE",
            Operation::Delete => "DELETE",
            Operation::Connect => "CONNECT",
        };
        format!("unexpected operation \"{operation}\", node \"{}\" can only update status", self.node)
    }

    async fn pod(&self, object: Option<&Owned>, old: Option<&Owned>) -> Outcome {
        let node = self.node;
        let pod = |object: Option<&Owned>| object.and_then(Owned::downcast_ref::<Pod>).cloned();
        match self.attributes.operation {
            Operation::Create => match pod(object) {
                Some(pod) => self.mirror_pod(&pod).await,
                None => Ok(()),
            },
            Operation::Delete => match pod(old) {
                Some(pod) if pod.spec.node_name != node => {
                    Err(format!("node \"{node}\" can only delete pods with spec.nodeName set to itself"))
                }
                _ => Ok(()),
            },
            _ => {
                Err(format!("unexpected operation \"UPDATE\", node \"{node}\" can only create and delete mirror pods"))
            }
        }
    }

    async fn mirror_pod(&self, pod: &Pod) -> Outcome {
        let node = self.node;
        if !pod.metadata.annotations.contains_key(MIRROR) {
            return Err(format!(
                "pod does not have \"{MIRROR}\" annotation, node \"{node}\" can only create mirror pods"
            ));
        }
        if pod.spec.node_name != node {
            return Err(format!("node \"{node}\" can only create pods with spec.nodeName set to itself"));
        }
        let owners = &pod.metadata.owner_references;
        if owners.len() > 1 {
            return Err(format!("node \"{node}\" can only create pods with a single owner reference set to itself"));
        }
        let Some(owner) = owners.first() else {
            return Err(format!("node \"{node}\" can only create pods with an owner reference set to itself"));
        };
        if owner.api_version != "v1" || owner.kind != "Node" || owner.name != node {
            return Err(format!("node \"{node}\" can only create pods with an owner reference set to itself"));
        }
        if owner.controller != Some(true) {
            return Err(format!(
                "node \"{node}\" can only create pods with a controller owner reference set to itself"
            ));
        }
        if owner.block_owner_deletion == Some(true) {
            return Err(format!("node \"{node}\" must not set blockOwnerDeletion on an owner reference"));
        }
        let found =
            find::<Node>(self.environment, self.attributes, ("", "nodes"), ("", node)).await.map_err(|s| s.message)?;
        match found {
            None => Err(format!("nodes \"{node}\" not found")),
            Some(found) if found.metadata.uid != owner.uid => {
                let (uid, said) = (&found.metadata.uid, &owner.uid);
                Err(format!("node {node} UID mismatch: expected {uid} got {said}"))
            }
            Some(_) => Ok(()),
        }
    }

    fn pod_status(&self, old: Option<&Owned>) -> Outcome {
        let node = self.node;
        match old.and_then(Owned::downcast_ref::<Pod>) {
            Some(pod) if pod.spec.node_name != node => {
                Err(format!("node \"{node}\" can only update pod status for pods with spec.nodeName set to itself"))
            }
            _ => Ok(()),
        }
    }

    async fn eviction(&self) -> Outcome {
        let (namespace, name, node) = (&self.attributes.namespace, &self.attributes.name, self.node);
        let pod = find::<Pod>(self.environment, self.attributes, ("", "pods"), (namespace, name))
            .await
            .map_err(|status| status.message)?;
        match pod {
            Some(pod) if pod.spec.node_name != node => {
                Err(format!("node {node} can only evict pods with spec.nodeName set to itself"))
            }
            _ => Ok(()),
        }
    }

    fn node(&self, object: Option<&Owned>, old: Option<&Owned>) -> Outcome {
        let of = |object: Option<&Owned>| object.and_then(Owned::downcast_ref::<Node>).cloned();
        let (me, new, old) = (self.node, of(object), of(old));
        let name = match (&new, self.attributes.name.as_str()) {
            (Some(new), "") => new.metadata.name.clone(),
            (_, name) => name.to_owned(),
        };
        if name != me {
            return Err(format!("node \"{me}\" is not allowed to modify node \"{name}\""));
        }
        let Some(new) = new else { return Ok(()) };
        let changed = changed_labels(&new, old.as_ref());
        match (self.attributes.operation, &old) {
            (Operation::Create, _) => {
                if new.spec.config_source.is_some() {
                    return Err(format!("node \"{me}\" is not allowed to create pods with a non-nil configSource"));
                }
                let forbidden: Vec<&str> = changed.into_iter().filter(|label| !is_own(label)).collect();
                if forbidden.is_empty() {
                    return Ok(());
                }
                Err(format!("node \"{me}\" is not allowed to set the following labels: {}", forbidden.join(", ")))
            }
            (Operation::Update, Some(old)) => self.node_update(&new, old, changed),
            _ => Ok(()),
        }
    }

    fn node_update(&self, new: &Node, old: &Node, changed: Vec<&str>) -> Outcome {
        let me = self.node;
        if new.spec.config_source.is_some() && new.spec.config_source != old.spec.config_source {
            return Err(format!("node \"{me}\" is not allowed to update configSource to a new non-nil configSource"));
        }
        if new.spec.taints != old.spec.taints {
            return Err(format!("node \"{me}\" is not allowed to modify taints"));
        }
        if new.metadata.owner_references != old.metadata.owner_references {
            return Err(format!("node \"{me}\" is not allowed to modify ownerReferences"));
        }
        let forbidden: Vec<&str> = changed.into_iter().filter(|label| !is_own(label)).collect();
        if forbidden.is_empty() {
            return Ok(());
        }
        Err(format!("is not allowed to modify labels: {}", forbidden.join(", ")))
    }

    async fn token(&self, object: Option<&Owned>) -> Outcome {
        let Some(request) = object.and_then(Owned::downcast_ref::<TokenRequest>) else { return Ok(()) };
        let bound = request.spec.bound_object_ref.as_ref();
        let Some(bound) =
            bound.filter(|bound| bound.api_version == "v1" && bound.kind == "Pod" && !bound.name.is_empty())
        else {
            return Err("node requested token not bound to a pod".into());
        };
        if bound.uid.is_empty() {
            return Err("node requested token with a pod binding without a uid".into());
        }
        let namespace = &self.attributes.namespace;
        let pod = find::<Pod>(self.environment, self.attributes, ("", "pods"), (namespace, &bound.name))
            .await
            .map_err(|s| s.message)?;
        match pod {
            None => Err(format!("pods \"{}\" not found", bound.name)),
            Some(pod) if pod.metadata.uid != bound.uid => {
                let uid = &pod.metadata.uid;
                Err(format!(
                    "the UID in the bound object reference ({}) does not match the UID in record. The object might have been deleted and then recreated: {uid}",
                    bound.uid
                ))
            }
            Some(pod) if pod.spec.node_name != self.node => {
                Err("node requested token bound to a pod scheduled on a different node".into())
            }
            Some(_) => Ok(()),
        }
    }

    fn lease(&self) -> Outcome {
        if self.attributes.namespace != LEASE_NAMESPACE {
            return Err(format!("can only access leases in the \"{LEASE_NAMESPACE}\" system namespace"));
        }
        if self.attributes.name != self.node {
            return Err("can only access node lease with the same name as the requesting node".into());
        }
        Ok(())
    }

    fn csi_node(&self) -> Outcome {
        if self.attributes.name != self.node {
            return Err("can only access CSINode with the same name as the requesting node".into());
        }
        Ok(())
    }
}

/// Labels that are not as they were, sorted.
fn changed_labels<'n>(new: &'n Node, old: Option<&'n Node>) -> Vec<&'n str> {
    let of = |node: Option<&'n Node>| node.into_iter().flat_map(|node| &node.metadata.labels);
    let has = |node: Option<&Node>, (key, value): (&String, &String)| {
        node.is_some_and(|node| node.metadata.labels.get(key) == Some(value))
    };
    let added = of(Some(new)).filter(|label| !has(old, *label));
    let removed = of(old).filter(|label| !has(Some(new), *label));
    let changed: BTreeSet<&str> = added.chain(removed).map(|(key, _)| key.as_str()).collect();
    changed.into_iter().collect()
}

/// Whether a kubelet may set a label: those outside of Kubernetes' domains, and some of them.
fn is_own(label: &str) -> bool {
    let domain = label.split_once('/').map_or("", |(domain, _)| domain);
    let within = |of: &str| domain == of || domain.ends_with(&format!(".{of}"));
    if within(RESTRICTED_DOMAIN) {
        return false;
    }
    if !within("kubernetes.io") && !within("k8s.io") {
        return true;
    }
    OWN_LABELS.contains(&label) || OWN_DOMAINS.iter().any(|of| within(of))
}
