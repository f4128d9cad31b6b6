//! Reference fields, and a check that no other field looks like a reference.

use std::collections::BTreeSet;

use generated::core::v1::{Container, LocalObjectReference, SecretReference};
use machinery::def::{Flags, Scalar, Shape, StructDef};
use machinery::describe;
use machinery::json;
use machinery::reflect::Mut;
use serde_json::json;

use super::ReferenceKind::{ConfigMap, PersistentVolumeClaim, ResourceClaim, Secret, ServiceAccount};
use super::*;

fn parsed<T: Struct>(document: &serde_json::Value) -> T {
    let mut object = T::default();
    json::from_value(document, Mut::of(&mut object), &mut json::Issues::ignore()).unwrap();
    object
}

fn paths<T: Struct>() -> Vec<(String, ReferenceKind)> {
    ReferencePlan::of(T::def()).paths(T::def())
}

#[test]
fn finds_the_references_of_containers() {
    let expected = [
        ("envFrom[].configMapRef.name", ConfigMap),
        ("envFrom[].secretRef.name", Secret),
        ("env[].valueFrom.configMapKeyRef.name", ConfigMap),
        ("env[].valueFrom.secretKeyRef.name", Secret),
    ];
    assert_eq!(paths::<Container>(), expected.map(|(path, kind)| (path.to_owned(), kind)));
}

#[test]
fn finds_the_references_of_pods_outside_containers() {
    let mut found = paths::<PodSpec>();
    for containers in ["initContainers", "containers", "ephemeralContainers"] {
        let within: Vec<_> = found.iter().filter(|(path, _)| path.starts_with(&format!("{containers}[]."))).collect();
        assert_eq!(within.len(), paths::<Container>().len(), "{containers}");
    }
    found.retain(|(path, _)| !path.contains("ontainers[]"));
    let expected = [
        ("volumes[].secret.secretName", Secret),
        ("volumes[].iscsi.secretRef.name", Secret),
        ("volumes[].persistentVolumeClaim.claimName", PersistentVolumeClaim),
        ("volumes[].rbd.secretRef.name", Secret),
        ("volumes[].flexVolume.secretRef.name", Secret),
        ("volumes[].cinder.secretRef.name", Secret),
        ("volumes[].cephfs.secretRef.name", Secret),
        ("volumes[].azureFile.secretName", Secret),
        ("volumes[].configMap.name", ConfigMap),
        ("volumes[].projected.sources[].secret.name", Secret),
        ("volumes[].projected.sources[].configMap.name", ConfigMap),
        ("volumes[].scaleIO.secretRef.name", Secret),
        ("volumes[].storageos.secretRef.name", Secret),
        ("volumes[].csi.nodePublishSecretRef.name", Secret),
        ("serviceAccountName", ServiceAccount),
        ("serviceAccount", ServiceAccount),
        ("imagePullSecrets[].name", Secret),
        ("resourceClaims[].resourceClaimName", ResourceClaim),
    ];
    let expected: BTreeSet<_> = expected.iter().map(|(path, kind)| format!("{path} {kind:?}")).collect();
    assert_eq!(found.iter().map(|(path, kind)| format!("{path} {kind:?}")).collect::<BTreeSet<_>>(), expected);
}

#[test]
fn finds_the_references_of_persistent_volumes() {
    let found: BTreeSet<_> = paths::<PersistentVolumeSpec>().into_iter().map(|(path, _)| path).collect();
    let sources = ["iscsi", "rbd", "flexVolume", "cinder", "cephfs", "scaleIO", "storageos"];
    let mut expected: BTreeSet<_> = sources.iter().map(|source| format!("{source}.secretRef.name")).collect();
    expected.insert("azureFile.secretName".into());
    for when in ["controllerPublish", "nodeStage", "nodePublish", "controllerExpand", "nodeExpand"] {
        expected.insert(format!("csi.{when}SecretRef.name"));
    }
    assert_eq!(found, expected);
}

/// Fields that look like references to the kinds of [`ReferenceKind`] but are not.
const OTHERS: [(&str, &[&str]); 21] = [
    ("PodSpec", &["nodeName", "priorityClassName", "runtimeClassName", "schedulerName"]),
    ("PodSchedulingGroup", &["podGroupName"]),
    // A controller creates the claim from the template; its name is in the status.
    ("PodResourceClaim", &["resourceClaimTemplateName"]),
    // Volumes, containers, and resources of the same pod.
    ("FileKeySelector", &["volumeName"]),
    ("ResourceFieldSelector", &["containerName"]),
    ("EphemeralContainer", &["targetContainerName"]),
    ("ContainerResizePolicy", &["resourceName"]),
    // Names outside the cluster.
    ("WindowsSecurityContextOptions", &["gmsaCredentialSpecName", "runAsUserName"]),
    ("AzureDiskVolumeSource", &["diskName"]),
    ("AzureFileVolumeSource", &["shareName"]),
    ("CephFSVolumeSource", &["secretFile"]),
    ("FlockerVolumeSource", &["datasetName"]),
    ("GCEPersistentDiskVolumeSource", &["pdName"]),
    ("ISCSIVolumeSource", &["initiatorName"]),
    ("ScaleIOVolumeSource", &["volumeName"]),
    ("StorageOSVolumeSource", &["volumeName"]),
    ("VsphereVirtualDiskVolumeSource", &["storagePolicyName"]),
    ("ClusterTrustBundleProjection", &["signerName"]),
    ("PodCertificateProjection", &["signerName"]),
    // The claim of an ephemeral volume references these, not the pod.
    ("ObjectMeta", &["generateName", "ownerReferences"]),
    (
        "PersistentVolumeClaimSpec",
        &["volumeName", "storageClassName", "volumeAttributesClassName", "dataSource", "dataSourceRef"],
    ),
];

/// Fails for a new field that looks like a reference and is neither found nor listed.
#[test]
fn finds_all_fields_that_look_like_references() {
    let mut seen = Vec::new();
    let mut strange = BTreeSet::new();
    let found: BTreeSet<String> = paths::<PodSpec>().into_iter().map(|(path, _)| path).collect();
    visit_fields(PodSpec::def(), "", &mut seen, &mut |def, json, path, shape| {
        let lower = json.to_ascii_lowercase();
        let words = ["secret", "configmap", "claimname", "serviceaccountname"].iter().any(|word| lower.contains(word));
        let reference = shape.struct_def().is_some_and(|inner| inner.name.ends_with("Reference"));
        let named = json.ends_with("Name") && matches!(shape, Shape::One(Scalar::String) | Shape::Opt(Scalar::String));
        let is_found = found.iter().any(|of| of.starts_with(path));
        if (words || reference || named) && !is_found {
            strange.insert((def.name, json));
        }
    });
    let others = OTHERS.iter().flat_map(|(def, fields)| fields.iter().map(move |field| (*def, *field)));
    assert_eq!(strange, others.collect());
}

/// Visits each field of a type and of its nested types, each type once per path.
fn visit_fields(
    def: &'static StructDef,
    prefix: &str,
    above: &mut Vec<&'static str>,
    visit: &mut impl FnMut(&StructDef, &'static str, &str, Shape),
) {
    if above.contains(&def.name) {
        return;
    }
    above.push(def.name);
    for field in def.fields {
        let shape = field.shape();
        let dot = if prefix.is_empty() || field.json.is_empty() { "" } else { "." };
        let list = matches!(shape, Shape::StructList(..) | Shape::StructMap(..) | Shape::List(_));
        let path = format!("{prefix}{dot}{}{}", field.json, if list { "[]" } else { "" });
        visit(def, field.json, &path, shape);
        if let Some(inner) = shape.struct_def() {
            visit_fields(inner, &path, above, visit);
        }
    }
    above.pop();
}

/// A volume type that does not exist yet.
#[derive(Clone, Default)]
struct FutureSource {
    token_secret_ref: Option<Box<LocalObjectReference>>,
    certificate_secrets: Vec<SecretReference>,
    backup_secret_name: String,
    shared_claim_names: Vec<String>,
    settings: Option<Box<FutureConfigMapSource>>,
    user: String,
}

#[derive(Clone, Default)]
struct FutureConfigMapSource {
    reference: LocalObjectReference,
}

describe! { FutureConfigMapSource, FUTURE_CONFIG_MAP_SOURCE "FutureConfigMapSource" {} [
    reference: "ref", 1, Flags::NONE;
] }
describe! { FutureSource, FUTURE_SOURCE "FutureSource" {} [
    token_secret_ref: "tokenSecretRef", 1, Flags::NONE;
    certificate_secrets: "certificateSecrets", 2, Flags::NONE;
    backup_secret_name: "backupSecretName", 3, Flags::NONE;
    shared_claim_names: "sharedClaimNames", 4, Flags::NONE;
    settings: "settings", 5, Flags::NONE;
    user: "user", 6, Flags::NONE;
] }

#[test]
fn finds_references_of_unknown_types() {
    let expected = [
        ("tokenSecretRef.name", Secret),
        ("certificateSecrets[].name", Secret),
        ("backupSecretName", Secret),
        ("sharedClaimNames[]", PersistentVolumeClaim),
        ("settings.ref.name", ConfigMap),
    ];
    assert_eq!(paths::<FutureSource>(), expected.map(|(path, kind)| (path.to_owned(), kind)));
}

#[test]
fn visits_names_with_their_paths() {
    let spec: PodSpec = parsed(&json!({
        "serviceAccountName": "robot",
        "imagePullSecrets": [{"name": ""}, {"name": "pull"}],
        "containers": [{"name": "c", "envFrom": [{"prefix": "p"}, {"secretRef": {"name": "env"}}]}],
        "volumes": [
            {"name": "a", "emptyDir": {}},
            {"name": "b", "projected": {"sources": [{"secret": {"name": "projected"}}]}},
        ],
    }));
    let mut found = Vec::new();
    visit_pod(&spec, &mut |r| found.push(format!("{:?} {} {} {}", r.kind, r.name, r.field, r.path)));
    let expected = [
        "Secret projected secret volumes[1].projected.sources[0].secret.name",
        "Secret env secretRef containers[0].envFrom[1].secretRef.name",
        "ServiceAccount robot serviceAccountName serviceAccountName",
        "Secret pull imagePullSecrets imagePullSecrets[1].name",
    ];
    assert_eq!(found, expected);
}

#[test]
fn visits_namespaces_of_volume_references() {
    let spec: PersistentVolumeSpec = parsed(&json!({
        "azureFile": {"secretName": "azure", "secretNamespace": "storage"},
        "csi": {"driver": "d", "volumeHandle": "h", "nodeStageSecretRef": {"name": "stage", "namespace": "csi"}},
    }));
    let mut found = Vec::new();
    visit_volume(&spec, &mut |r| found.push(format!("{}/{} {}", r.namespace, r.name, r.field)));
    assert_eq!(found, ["storage/azure secretName", "csi/stage nodeStageSecretRef"]);
}
