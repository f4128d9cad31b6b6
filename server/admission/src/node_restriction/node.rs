//! Writes to the kubelet's own node: labels, taints, owner references, and config source.

use std::collections::BTreeSet;

use endpoints::Operation;
use generated::core::v1::Node;
use machinery::scalar::go_text::quote;

use super::{Lookup, Outcome, Request};

const RESTRICTED_DOMAIN: &str = "node-restriction.kubernetes.io";
/// Labels of Kubernetes' domains that a kubelet may set on its node (upstream: `kubeletapis.KubeletLabels`).
const KUBELET_LABELS: [&str; 11] = [
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];
/// Domains of labels that a kubelet may set on its node (upstream: `kubeletapis.KubeletLabelNamespaces`).
const KUBELET_DOMAINS: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];

impl<L: Lookup> Request<'_, L> {
    pub(super) fn own_node(&self) -> Outcome {
        let name = &self.attributes.name;
        if name != self.node {
            return Err(format!("node {} is not allowed to modify node {}", quote(self.node), quote(name)).into());
        }
        match self.attributes.operation {
            Operation::Create => self.new_node(self.new_object()?),
            Operation::Update => self.changed_node(self.new_object()?, self.old_object()?),
            Operation::Delete | Operation::Connect => Ok(()),
        }
    }

    fn new_node(&self, node: &Node) -> Outcome {
        let node_name = quote(self.node);
        if node.spec.config_source.is_some() {
            return Err(format!("node {node_name} is not allowed to create pods with a non-nil configSource").into());
        }
        let forbidden = forbidden_labels(node, None);
        if forbidden.is_empty() {
            return Ok(());
        }
        Err(format!("node {node_name} is not allowed to set the following labels: {}", forbidden.join(", ")).into())
    }

    fn changed_node(&self, new: &Node, old: &Node) -> Outcome {
        let node_name = quote(self.node);
        // Old kubelets may drop the field in a status update.
        if new.spec.config_source.is_some() && new.spec.config_source != old.spec.config_source {
            return Err(format!(
                "node {node_name} is not allowed to update configSource to a new non-nil configSource"
            )
            .into());
        }
        if new.spec.taints != old.spec.taints {
            return Err(format!("node {node_name} is not allowed to modify taints").into());
        }
        if new.metadata.owner_references != old.metadata.owner_references {
            return Err(format!("node {node_name} is not allowed to modify ownerReferences").into());
        }
        let forbidden = forbidden_labels(new, Some(old));
        if forbidden.is_empty() {
            return Ok(());
        }
        Err(format!("is not allowed to modify labels: {}", forbidden.join(", ")).into())
    }
}

/// Returns the added, removed, or changed labels that a kubelet must not modify, sorted.
fn forbidden_labels<'n>(new: &'n Node, old: Option<&'n Node>) -> Vec<&'n str> {
    let of = |node: Option<&'n Node>| node.into_iter().flat_map(|node| &node.metadata.labels);
    let has = |node: Option<&Node>, (key, value): (&String, &String)| {
        node.is_some_and(|node| node.metadata.labels.get(key) == Some(value))
    };
    let added = of(Some(new)).filter(|label| !has(old, *label));
    let removed = of(old).filter(|label| !has(Some(new), *label));
    let changed: BTreeSet<&str> = added.chain(removed).map(|(key, _)| key.as_str()).collect();
    changed.into_iter().filter(|label| !is_allowed(label)).collect()
}

/// Whether a kubelet may set a label: any label outside Kubernetes' domains, and the allowed ones
/// inside.
fn is_allowed(label: &str) -> bool {
    let domain = label.split_once('/').map_or("", |(domain, _)| domain);
    let within = |of: &str| domain.strip_suffix(of).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    if within(RESTRICTED_DOMAIN) {
        return false;
    }
    let is_kubernetes = within("kubernetes.io") || within("k8s.io");
    !is_kubernetes || KUBELET_LABELS.contains(&label) || KUBELET_DOMAINS.iter().any(|of| within(of))
}
