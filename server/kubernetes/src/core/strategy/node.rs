//! Strategy of nodes.

use machinery::features;
use machinery::field_path::Path;
use machinery::format::ip::warnings_for_cidr;
use machinery::hooks::WriteContext;
use machinery::json_name;

use generated::core::v1::{Node, NodeSpec};

const DECLARED_FEATURES: &str = features::NodeDeclaredFeatures;

/// Keeps the status of the request, because a kubelet registers its node together with its status.
/// Drops the configuration source, which kubelets no longer read from the cluster.
pub fn create_node(context: &WriteContext, node: &mut Node, request: Option<&Node>) {
    if let Some(request) = request {
        node.status = request.status.clone();
    }
    node.spec.config_source = None;
    node.status.config = None;
    if !context.enabled(DECLARED_FEATURES) {
        node.status.declared_features.clear();
    }
}

/// Keeps obsolete fields only where they are already stored.
pub fn update_node(context: &WriteContext, new: &mut Node, old: &Node) {
    if old.spec.config_source.is_none() {
        new.spec.config_source = None;
    }
    if old.status.config.is_none() {
        new.status.config = None;
    }
    if !context.enabled(DECLARED_FEATURES) && old.status.declared_features.is_empty() {
        new.status.declared_features.clear();
    }
}

/// Mirrors `nodeWarnings`.
pub fn warn_node(context: &WriteContext, node: &Node, _: Option<&Node>) -> Vec<String> {
    if context.subresource == "status" {
        return Vec::new();
    }
    let mut out = Vec::new();
    if !node.spec.external_id.is_empty() {
        out.push("spec.externalID: this field is deprecated, and is unused by Kubernetes".to_owned());
    }
    let path = Path::new(json_name!(Node.spec));
    let path = path.child(json_name!(NodeSpec.pod_cidrs));
    for (index, range) in node.spec.pod_cidrs.iter().enumerate() {
        out.extend(warnings_for_cidr(&path.index(index), range));
    }
    out
}
