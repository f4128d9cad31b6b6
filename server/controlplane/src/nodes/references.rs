//! What the kubelet of a pod or of a volume needs to read.

use std::collections::HashMap;

use generated::core::v1::{PersistentVolume, Pod};

use super::graph::{Kind, Thing};
use crate::pod_references::{Reference, ReferenceKind, visit_pod, visit_volume};

/// Pods that stand for those of a kubelet's own files. They give their kubelet no rights.
const MIRROR: &str = "kubernetes.io/config.mirror";
/// Secrets that only controllers use: `controllerPublishSecretRef`, `controllerExpandSecretRef`.
const CONTROLLER: &str = "controller";

/// What the kubelet of a pod needs for it (upstream: `Graph.AddPod`).
pub fn of_pod(pod: &Pod) -> Vec<Thing> {
    let mut found = Vec::new();
    if pod.metadata.annotations.contains_key(MIRROR) {
        return found;
    }
    let namespace = &pod.metadata.namespace;
    let mut add = |kind: Kind, name: &str| found.push((kind, namespace.clone(), name.to_owned()));
    visit_pod(&pod.spec, &mut |reference| {
        if let Some(kind) = readable(reference) {
            add(kind, reference.name);
        }
    });
    for volume in pod.spec.volumes.iter().filter(|volume| volume.volume_source.ephemeral.is_some()) {
        add(Kind::Claim, &format!("{}-{}", pod.metadata.name, volume.name));
    }
    for name in made_claims(pod).filter(|name| !name.is_empty()) {
        add(Kind::ResourceClaim, name);
    }
    found
}

fn readable(reference: &Reference<'_, '_>) -> Option<Kind> {
    match reference.kind {
        ReferenceKind::Secret => Some(Kind::Secret),
        ReferenceKind::ConfigMap => Some(Kind::ConfigMap),
        ReferenceKind::PersistentVolumeClaim => Some(Kind::Claim),
        ReferenceKind::ResourceClaim => Some(Kind::ResourceClaim),
        // The alias `serviceAccount` counts no more than upstream lets it.
        ReferenceKind::ServiceAccount => (reference.field == "serviceAccountName").then_some(Kind::ServiceAccount),
    }
}

/// The resource claims that were made for a pod: those of its templates, and that of its extended resources
/// (upstream: `resourceclaim.Name`). Other names in the status give no rights.
fn made_claims(pod: &Pod) -> impl Iterator<Item = &str> {
    // Of statuses of one name, the first one counts.
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

/// The secrets that the kubelet needs to mount a volume, in the namespace that the reference names or in that of
/// the claim (upstream: `VisitPVSecretNames`).
pub fn of_volume(volume: &PersistentVolume) -> Vec<Thing> {
    let claim = volume.spec.claim_ref.as_ref().map(|claim| claim.namespace.as_str()).unwrap_or_default();
    let mut found = Vec::new();
    visit_volume(&volume.spec, &mut |reference| {
        if reference.kind == ReferenceKind::Secret && !reference.field.starts_with(CONTROLLER) {
            let namespace = if reference.namespace.is_empty() { claim } else { reference.namespace };
            found.push((Kind::Secret, namespace.to_owned(), reference.name.to_owned()));
        }
    });
    found
}
