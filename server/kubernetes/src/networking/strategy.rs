//! Warnings of kinds of `networking`.

use machinery::field_path::Path;
use machinery::format::ip::{warnings_for_cidr, warnings_for_ip};
use machinery::hooks::WriteContext;
use machinery::json_name;

use generated::networking::v1::{
    IPBlock, Ingress, IngressLoadBalancerIngress, IngressLoadBalancerStatus, IngressStatus, NetworkPolicy,
    NetworkPolicyEgressRule, NetworkPolicyIngressRule, NetworkPolicyPeer, NetworkPolicySpec,
};

const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";

/// Mirrors `ingressStrategy.WarningsOnCreate` and the warnings of status updates.
pub fn warn_ingress(context: &WriteContext, new: &Ingress, old: Option<&Ingress>) -> Vec<String> {
    if context.subresource == "status" {
        let path = Path::new(json_name!(Ingress.status));
        let path = path.child(json_name!(IngressStatus.load_balancer));
        let path = path.child(json_name!(IngressLoadBalancerStatus.ingress));
        let points = new.status.load_balancer.ingress.iter().enumerate();
        return points
            .filter_map(|(index, point)| {
                warnings_for_ip(&path.index(index).child(json_name!(IngressLoadBalancerIngress.ip)), &point.ip)
            })
            .collect();
    }
    let annotated = new.metadata.annotations.contains_key(CLASS_ANNOTATION);
    if old.is_some() || !annotated || new.spec.ingress_class_name.is_some() {
        return Vec::new();
    }
    vec![format!("annotation \"{CLASS_ANNOTATION}\" is deprecated, please use 'spec.ingressClassName' instead")]
}

/// Mirrors `networkPolicyWarnings`.
pub fn warn_network_policy(_: &WriteContext, policy: &NetworkPolicy, _: Option<&NetworkPolicy>) -> Vec<String> {
    let (path, mut out) = (Path::new(json_name!(NetworkPolicy.spec)), Vec::new());
    let ingress = path.child(json_name!(NetworkPolicySpec.ingress));
    for (index, rule) in policy.spec.ingress.iter().enumerate() {
        warn_peers(&ingress.index(index).child(json_name!(NetworkPolicyIngressRule.from)), &rule.from, &mut out);
    }
    let egress = path.child(json_name!(NetworkPolicySpec.egress));
    for (index, rule) in policy.spec.egress.iter().enumerate() {
        warn_peers(&egress.index(index).child(json_name!(NetworkPolicyEgressRule.to)), &rule.to, &mut out);
    }
    out
}

fn warn_peers(path: &Path<'_>, peers: &[NetworkPolicyPeer], out: &mut Vec<String>) {
    for (index, peer) in peers.iter().enumerate() {
        let Some(block) = peer.ip_block.as_deref() else { continue };
        let path = path.index(index);
        let path = path.child(json_name!(NetworkPolicyPeer.ip_block));
        out.extend(warnings_for_cidr(&path.child(json_name!(IPBlock.cidr)), &block.cidr));
        let except = path.child(json_name!(IPBlock.except));
        for (index, range) in block.except.iter().enumerate() {
            out.extend(warnings_for_cidr(&except.index(index), range));
        }
    }
}
