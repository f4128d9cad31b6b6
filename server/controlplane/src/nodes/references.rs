//! The objects that the kubelet of a pod or volume needs to read.

use std::collections::HashMap;

use generated::core::v1::{PersistentVolume, Pod};

use super::vertex::{Vertex, VertexType};
use kubernetes::core::pod_references::{PodReference, ReferenceKind, visit_pod, visit_volume};

/// The annotation of mirror pods. They grant their kubelet no permissions.
const MIRROR: &str = "kubernetes.io/config.mirror";
/// Field prefix of secrets that only controllers use: `controllerPublishSecretRef`,
/// `controllerExpandSecretRef`.
const CONTROLLER: &str = "controller";

/// Returns the objects that the kubelet needs for a pod (upstream: `Graph.AddPod`).
pub fn of_pod(pod: &Pod) -> Vec<Vertex> {
    let mut found = Vec::new();
    if pod.metadata.annotations.contains_key(MIRROR) {
        return found;
    }
    let namespace = &pod.metadata.namespace;
    let mut add = |kind: VertexType, name: &str| found.push((kind, namespace.clone(), name.to_owned()));
    visit_pod(&pod.spec, &mut |reference| {
        if let Some(kind) = readable(reference) {
            add(kind, reference.name);
        }
    });
    for volume in pod.spec.volumes.iter().filter(|volume| volume.volume_source.ephemeral.is_some()) {
        add(VertexType::Claim, &format!("{}-{}", pod.metadata.name, volume.name));
    }
    for name in generated_claims(pod).filter(|name| !name.is_empty()) {
        add(VertexType::ResourceClaim, name);
    }
    found
}

fn readable(reference: &PodReference<'_, '_>) -> Option<VertexType> {
    match reference.kind {
        ReferenceKind::Secret => Some(VertexType::Secret),
        ReferenceKind::ConfigMap => Some(VertexType::ConfigMap),
        ReferenceKind::PersistentVolumeClaim => Some(VertexType::Claim),
        ReferenceKind::ResourceClaim => Some(VertexType::ResourceClaim),
        // As upstream, the alias `serviceAccount` does not count.
        ReferenceKind::ServiceAccount => {
            (reference.field == "serviceAccountName").then_some(VertexType::ServiceAccount)
        }
    }
}

/// Returns the resource claims that were generated for a pod: those of its templates and the claim
/// of its extended resources (upstream: `resourceclaim.Name`). Other names in the status grant no
/// permissions.
fn generated_claims(pod: &Pod) -> impl Iterator<Item = &str> {
    // The first status of a name counts.
    let statuses = pod.status.resource_claim_statuses.iter().rev();
    let made: HashMap<&str, _> = statuses.map(|status| (status.name.as_str(), status)).collect();
    let templates = pod
        .spec
        .resource_claims
        .iter()
        .filter(|claim| claim.resource_claim_name.is_none() && claim.resource_claim_template_name.is_some());
    let of_templates = templates.filter_map(move |claim| made.get(claim.name.as_str())?.resource_claim_name.as_deref());
    let extended = pod.status.extended_resource_claim_status.iter();
    of_templates.chain(extended.map(|status| status.resource_claim_name.as_str()))
}

/// Returns the secrets that the kubelet needs to mount a volume, in the namespace of the reference
/// or else of the claim (upstream: `VisitPVSecretNames`).
pub fn of_volume(volume: &PersistentVolume) -> Vec<Vertex> {
    let claim = volume.spec.claim_ref.as_ref().map(|claim| claim.namespace.as_str()).unwrap_or_default();
    let mut found = Vec::new();
    visit_volume(&volume.spec, &mut |reference| {
        if reference.kind == ReferenceKind::Secret && !reference.field.starts_with(CONTROLLER) {
            let namespace = if reference.namespace.is_empty() { claim } else { reference.namespace };
            found.push((VertexType::Secret, namespace.to_owned(), reference.name.to_owned()));
        }
    });
    found
}
