//! Objects at and above limits of size, which are too large for a file of cases.

use serde_json::{Map, Value, json};

use crate::{create, create_with, merged, update};

const ACCEPTED: [&str; 1] = ["accepted"];

fn pod(spec: Value) -> Value {
    let base = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "a" },
                       "spec": { "containers": [{ "name": "a", "image": "a" }] } });
    merged(&base, &json!({ "spec": spec }))
}

fn slice(devices: Value) -> Value {
    json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "a" },
            "spec": { "driver": "a.b", "nodeName": "n", "devices": devices,
                      "pool": { "name": "p", "generation": 1, "resourceSliceCount": 1 } } })
}

/// An object with members that a function numbers.
fn members(count: usize, value: impl Fn(usize) -> Value) -> Value {
    Value::Object((0..count).map(|index| (format!("a{index}"), value(index))).collect::<Map<_, _>>())
}

#[test]
fn data_of_config_maps_and_secrets_is_limited() {
    let config_map = |size: usize| {
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" },
                "data": { "a": "x".repeat(size) }, "binaryData": { "b": "eA==" } })
    };
    assert_eq!(create(&config_map((1 << 20) - 1)), ACCEPTED);
    assert_eq!(create(&config_map(1 << 20)), ["[]: Too long: may not be more than 1048576 bytes"]);
    let secret = |size: usize| {
        json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "a" },
                "stringData": { "a": "x".repeat(size) } })
    };
    assert_eq!(create(&secret(1 << 20)), ACCEPTED);
    assert_eq!(create(&secret((1 << 20) + 1)), ["data: Too long: may not be more than 1048576 bytes"]);
}

#[test]
fn parameters_of_classes_are_limited() {
    let class = |parameters: Value| {
        json!({ "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": { "name": "a" },
                "provisioner": "a.b/c", "parameters": parameters })
    };
    assert_eq!(create(&class(members(512, |_| json!("")))), ACCEPTED);
    assert_eq!(create(&class(members(513, |_| json!("")))), ["parameters: Too long: may not be more than 512 bytes"]);
    let all = 256 << 10;
    assert_eq!(create(&class(json!({ "a": "x".repeat(all - 1) }))), ACCEPTED);
    let found = create(&class(json!({ "a": "x".repeat(all) })));
    assert_eq!(found, ["parameters: Too long: may not be more than 262144 bytes"]);
}

#[test]
fn errors_of_attachments_are_limited() {
    let attachment = json!({ "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": { "name": "a" },
        "spec": { "attacher": "a.b", "nodeName": "n", "source": { "persistentVolumeName": "p" } } });
    let status = |status: Value| update("status", &attachment, &merged(&attachment, &json!({ "status": status })));
    let found = status(json!({ "attached": false, "attachError": { "message": "x".repeat(1025) },
                               "detachError": { "message": "x".repeat(1024) } }));
    assert_eq!(found, ["status.attachError.message: Too long: may not be more than 262144 bytes"]);
    let found = status(json!({ "attached": false, "attachmentMetadata": { "a": "x".repeat(256 << 10) } }));
    assert_eq!(found, ["status.attachmentMetadata: Too long: may not be more than 262144 bytes"]);
}

#[test]
fn search_lists_of_pods_are_limited() {
    let search = |count: usize, length: usize| {
        let all: Vec<String> = (0..count).map(|index| format!("{}.{index:02}", "a".repeat(length))).collect();
        create(&pod(json!({ "dnsConfig": { "searches": all } })))
    };
    assert_eq!(search(32, 60), ACCEPTED);
    let shown = |found: &[String]| found.iter().map(|error| error.rsplit_once("]: ").unwrap().1.to_owned()).collect();
    let all: Vec<String> = shown(&search(33, 10));
    assert_eq!(all, ["must not have more than 32 search paths"]);
    let long = "a".repeat(60);
    let all: Vec<String> = (0..17).map(|index| format!("{long}.{long}.{index}")).collect();
    let found = create(&pod(json!({ "dnsConfig": { "searches": all } })));
    let all: Vec<String> = shown(&found);
    assert_eq!(all, ["must not have more than 2048 characters (including spaces) in the search list"]);
}

#[test]
fn names_that_are_made_of_names_are_limited() {
    let claim =
        json!({ "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1" } } } });
    let volume = json!({ "volumes": [{ "name": "v", "ephemeral": { "volumeClaimTemplate": claim } }] });
    let name = "a".repeat(253);
    let found = create(&merged(&pod(volume), &json!({ "metadata": { "name": name } })));
    let why = "must be no more than 253 characters";
    assert_eq!(found, [format!("spec.volumes[0].name: Invalid value: \"v\": PVC name \"{name}-v\": {why}")]);
    let target = json!({ "targetPortal": "a", "iqn": "iqn.2003-01.a:b", "lun": 1, "initiatorName": "iqn.2003-01.a:c" });
    let name = "v".repeat(63);
    let found = create(&pod(json!({ "volumes": [{ "name": name, "iscsi": target }] })));
    let why = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName \
               is specified.";
    assert_eq!(found, [format!("spec.volumes[0].name: Invalid value: \"{name}\": {why}")]);
}

#[test]
fn annotations_of_certificates_are_limited() {
    let certificate = json!({ "signerName": "a.b/c", "keyType": "ED25519", "credentialBundlePath": "p",
                              "userAnnotations": { "a.b/c": "x".repeat(256 << 10) } });
    let sources = json!([{ "podCertificate": certificate }]);
    let volumes = json!({ "volumes": [{ "name": "v", "projected": { "sources": sources } }] });
    let found = create_with(&pod(volumes), &["PodCertificateRequest=true"]);
    let path = "spec.volumes[0].projected.sources[0].podCertificate.userAnnotations";
    assert_eq!(found, [format!("{path}: Too long: may not be more than 262144 bytes")]);
}

#[test]
fn devices_of_slices_are_limited() {
    let attributes = members(33, |index| json!({ "int": index }));
    let why = "the total number of attributes and capacities must not exceed 32";
    let found = create(&slice(json!([{ "name": "d", "attributes": attributes }])));
    assert_eq!(found, [format!("spec.devices[0]: Invalid value: 33: {why}")]);
    let plain = |count: usize| (0..count).map(|index| json!({ "name": format!("d{index}") })).collect::<Value>();
    assert_eq!(create(&slice(plain(128))), ACCEPTED);
    assert_eq!(create(&slice(plain(129))), ["spec.devices: Too many: 129: must have at most 128 items"]);
    let taint = json!({ "key": "k", "effect": "NoSchedule" });
    let tainted = |index: usize| json!({ "name": format!("d{index}"), "taints": [taint] });
    let found = create(&slice((0..65).map(tainted).collect()));
    assert_eq!(found, ["spec.devices: Too many: 65: must have at most 64 items"]);
}

#[test]
fn expressions_of_annotations_are_limited() {
    let rule = json!({ "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"] });
    let policy = |length: usize| {
        let expression = format!("'{}'", "x".repeat(length - 2));
        json!({ "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
                "metadata": { "name": "a" },
                "spec": { "matchConstraints": { "resourceRules": [rule] }, "validations": [{ "expression": "true" }],
                          "auditAnnotations": [{ "key": "k", "valueExpression": expression }] } })
    };
    assert_eq!(create(&policy(5 * 1024)), ACCEPTED);
    let why = "Required value: must not exceed 5120 bytes in length";
    assert_eq!(create(&policy(5 * 1024 + 1)), [format!("spec.auditAnnotations[0].valueExpression: {why}")]);
}
