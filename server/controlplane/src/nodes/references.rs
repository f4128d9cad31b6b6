//! What pods and volumes refer to.
//!
//! Secrets and config maps are found by the names of fields wherever these stand, not by a list of places: a kind of container or of volume that
//! is added later is covered, too (CVE-2024-3177).

use generated::core::v1::{PersistentVolume, Pod};
use machinery::json;
use machinery::reflect::{Ref, Struct};
use serde_json::Value;

use super::graph::{Kind, Thing};

/// Pods that stand for those of a kubelet's own files. They give their kubelet no rights.
const MIRROR: &str = "kubernetes.io/config.mirror";

/// What the kubelet of a pod needs for it.
pub fn of_pod(pod: &Pod) -> Vec<Thing> {
    let mut found = Vec::new();
    if pod.metadata.annotations.contains_key(MIRROR) {
        return found;
    }
    let namespace = &pod.metadata.namespace;
    let mut add = |kind: Kind, name: &str| {
        if !name.is_empty() {
            found.push((kind, namespace.clone(), name.to_owned()));
        }
    };
    add(Kind::ServiceAccount, &pod.spec.service_account_name);
    walk(&document(&pod.spec), &mut add);
    for volume in pod.spec.volumes.iter().filter(|volume| document(*volume).get("ephemeral").is_some()) {
        add(Kind::Claim, &format!("{}-{}", pod.metadata.name, volume.name));
    }
    let status = document(&pod.status);
    for claim in status["resourceClaimStatuses"].as_array().into_iter().flatten() {
        add(Kind::ResourceClaim, claim["resourceClaimName"].as_str().unwrap_or_default());
    }
    add(Kind::ResourceClaim, status["extendedResourceClaimStatus"]["resourceClaimName"].as_str().unwrap_or_default());
    found
}

/// The secrets that the kubelet needs to mount a volume.
pub fn of_volume(volume: &PersistentVolume) -> Vec<Thing> {
    let claim = volume.spec.claim_ref.as_ref().map(|claim| claim.namespace.as_str()).unwrap_or_default();
    let mut found = Vec::new();
    secrets_of_volume(&document(&volume.spec), claim, &mut found);
    found
}

fn document<T: Struct>(part: &T) -> Value {
    let mut text = Vec::new();
    json::encode(Ref::of(part), &mut text);
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Looks at every field of a pod's specification.
fn walk(value: &Value, add: &mut impl FnMut(Kind, &str)) {
    let Value::Object(fields) = value else {
        value.as_array().into_iter().flatten().for_each(|item| walk(item, add));
        return;
    };
    for (key, field) in fields {
        let text = |name: &str| field[name].as_str().unwrap_or_default();
        match key.as_str() {
            "secretRef" | "secretKeyRef" | "nodePublishSecretRef" => add(Kind::Secret, text("name")),
            "secret" => {
                add(Kind::Secret, text("secretName"));
                add(Kind::Secret, text("name"));
            }
            "secretName" => add(Kind::Secret, field.as_str().unwrap_or_default()),
            "imagePullSecrets" => {
                field
                    .as_array()
                    .into_iter()
                    .flatten()
                    .for_each(|one| add(Kind::Secret, one["name"].as_str().unwrap_or_default()));
            }
            "configMap" | "configMapRef" | "configMapKeyRef" => add(Kind::ConfigMap, text("name")),
            "persistentVolumeClaim" => add(Kind::Claim, text("claimName")),
            "resourceClaims" => {
                for claim in field.as_array().into_iter().flatten() {
                    add(Kind::ResourceClaim, claim["resourceClaimName"].as_str().unwrap_or_default());
                }
            }
            _ => {}
        }
        walk(field, add);
    }
}

/// A reference to a secret names its namespace, or means that of the claim. Those of controllers are none of a kubelet's business.
fn secrets_of_volume(value: &Value, claim: &str, found: &mut Vec<Thing>) {
    let Value::Object(fields) = value else { return };
    for (key, field) in fields {
        let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let mut add = |namespace: String, name: String| {
            if !name.is_empty() {
                let namespace = if namespace.is_empty() { claim.to_owned() } else { namespace };
                found.push((Kind::Secret, namespace, name));
            }
        };
        match key.as_str() {
            "secretRef" | "nodeStageSecretRef" | "nodePublishSecretRef" | "nodeExpandSecretRef" => {
                add(text(field, "namespace"), text(field, "name"));
            }
            "azureFile" => add(text(field, "secretNamespace"), text(field, "secretName")),
            "controllerExpandSecretRef" | "controllerPublishSecretRef" | "claimRef" => {}
            _ => secrets_of_volume(field, claim, found),
        }
    }
}
