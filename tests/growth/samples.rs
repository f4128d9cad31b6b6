//! A valid object of each served kind, so that requests reach all code after validation.

use std::sync::OnceLock;

use serde_json::{Value, json};

/// Group, kind and object. `@` stands for a word that differs in each object.
const SAMPLES: [(&str, &str, &str); 61] = [
    ("", "ConfigMap", r#"{}"#),
    ("", "Endpoints", r#"{"subsets": [{"addresses": [{"ip": "192.0.2.1"}], "ports": [{"port": 1, "name": "a"}]}]}"#),
    ("", "Event", r#"{"involvedObject": {"namespace": "default"}}"#),
    ("", "LimitRange", r#"{"spec": {"limits": [{"type": "example.com/limited"}]}}"#),
    ("", "Namespace", r#"{}"#),
    ("", "Node", r#"{}"#),
    (
        "",
        "PersistentVolume",
        r#"{"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"}}}"#,
    ),
    (
        "",
        "PersistentVolumeClaim",
        r#"{"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}"#,
    ),
    ("", "Pod", r#"{"spec": "$POD"}"#),
    ("", "PodTemplate", r#"{"template": "$TEMPLATE"}"#),
    ("", "ReplicationController", r#"{"spec": {"selector": {"a": "b"}, "template": "$TEMPLATE"}}"#),
    ("", "ResourceQuota", r#"{"spec": {"hard": {"count/e.example.com": "1"}}}"#),
    ("", "Secret", r#"{}"#),
    (
        "",
        "Service",
        r#"{"spec": {"type": "LoadBalancer", "allocateLoadBalancerNodePorts": false, "selector": {"a": "b"},
            "ports": [{"port": 1, "name": "a"}]}}"#,
    ),
    ("", "ServiceAccount", r#"{}"#),
    (
        "admissionregistration.k8s.io",
        "MutatingAdmissionPolicy",
        r#"{"spec": {"reinvocationPolicy": "Never", "matchConstraints": {"resourceRules": ["$RULE"]},
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'remove', path: '/spec'}]"}}]}}"#,
    ),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding", r#"{"spec": {"policyName": "absent"}}"#),
    (
        "admissionregistration.k8s.io",
        "MutatingWebhookConfiguration",
        r#"{"webhooks": [{"name": "a.example.com", "clientConfig": {"url": "https://a.example.com"},
            "rules": ["$RULE"], "sideEffects": "None", "admissionReviewVersions": ["v1"]}]}"#,
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicy",
        r#"{"spec": {"matchConstraints": {"resourceRules": ["$RULE"]}, "validations": [{"expression": "true"}]}}"#,
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicyBinding",
        r#"{"spec": {"policyName": "absent", "validationActions": ["Deny"]}}"#,
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingWebhookConfiguration",
        r#"{"webhooks": [{"name": "a.example.com", "clientConfig": {"url": "https://a.example.com"},
            "rules": ["$RULE"], "sideEffects": "None", "admissionReviewVersions": ["v1"]}]}"#,
    ),
    (
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        r#"{"metadata": {"name": "@s.example.com"}, "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "@s", "kind": "@"}, "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}}}]}}"#,
    ),
    (
        "apiregistration.k8s.io",
        "APIService",
        r#"{"metadata": {"name": "v1.@.example.com"}, "spec": {"group": "@.example.com", "version": "v1",
            "groupPriorityMinimum": 100, "versionPriority": 10}}"#,
    ),
    ("apps", "ControllerRevision", r#"{"revision": 1, "data": {"a": "b"}}"#),
    ("apps", "DaemonSet", r#"{"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": "$TEMPLATE"}}"#),
    ("apps", "Deployment", r#"{"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": "$TEMPLATE"}}"#),
    ("apps", "ReplicaSet", r#"{"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": "$TEMPLATE"}}"#),
    ("apps", "StatefulSet", r#"{"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": "$TEMPLATE"}}"#),
    ("authentication.k8s.io", "TokenReview", r#"{"spec": {"token": "t"}}"#),
    ("authentication.k8s.io", "SelfSubjectReview", r#"{}"#),
    (
        "authorization.k8s.io",
        "LocalSubjectAccessReview",
        r#"{"metadata": {"namespace": "default"}, "spec": {"user": "u", "resourceAttributes": "$ACCESS"}}"#,
    ),
    ("authorization.k8s.io", "SelfSubjectAccessReview", r#"{"spec": {"resourceAttributes": "$ACCESS"}}"#),
    ("authorization.k8s.io", "SelfSubjectRulesReview", r#"{"spec": {"namespace": "default"}}"#),
    ("authorization.k8s.io", "SubjectAccessReview", r#"{"spec": {"user": "u", "resourceAttributes": "$ACCESS"}}"#),
    (
        "autoscaling",
        "HorizontalPodAutoscaler",
        r#"{"spec": {"maxReplicas": 2, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}}"#,
    ),
    ("batch", "CronJob", r#"{"spec": {"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": "$ONCE"}}}}"#),
    ("batch", "Job", r#"{"spec": {"template": "$ONCE"}}"#),
    (
        "certificates.k8s.io",
        "CertificateSigningRequest",
        r#"{"spec": {"signerName": "example.com/a", "usages": ["any"], "request": "$REQUEST"}}"#,
    ),
    ("coordination.k8s.io", "Lease", r#"{"spec": {"holderIdentity": "a", "leaseDurationSeconds": 5}}"#),
    ("discovery.k8s.io", "EndpointSlice", r#"{"addressType": "IPv4", "endpoints": [], "ports": []}"#),
    (
        "events.k8s.io",
        "Event",
        r#"{"regarding": {"namespace": "default"}, "eventTime": "2026-01-01T00:00:00.000000Z", "type": "Normal",
            "reportingController": "example.com/a", "reportingInstance": "a", "action": "a", "reason": "a"}"#,
    ),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema", r#"{"spec": {"priorityLevelConfiguration": {"name": "absent"}}}"#),
    (
        "flowcontrol.apiserver.k8s.io",
        "PriorityLevelConfiguration",
        r#"{"spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": 1, "limitResponse": {"type": "Reject"}}}}"#,
    ),
    (
        "networking.k8s.io",
        "Ingress",
        r#"{"spec": {"defaultBackend": {"service": {"name": "a", "port": {"number": 1}}}}}"#,
    ),
    ("networking.k8s.io", "IngressClass", r#"{"spec": {"controller": "example.com/a"}}"#),
    (
        "networking.k8s.io",
        "IPAddress",
        r#"{"metadata": {"name": "2001:db8::1:SERIAL"}, "spec": {"parentRef": {"resource": "services", "name": "a", "namespace": "b"}}}"#,
    ),
    ("networking.k8s.io", "NetworkPolicy", r#"{"spec": {"podSelector": {}}}"#),
    ("networking.k8s.io", "ServiceCIDR", r#"{"spec": {"cidrs": ["198.18.0.0/16"]}}"#),
    ("node.k8s.io", "RuntimeClass", r#"{"handler": "a"}"#),
    ("policy", "PodDisruptionBudget", r#"{"spec": {"selector": {"matchLabels": {"absent": "a"}}}}"#),
    ("rbac.authorization.k8s.io", "ClusterRole", r#"{"rules": []}"#),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", r#"{"roleRef": "$ROLE"}"#),
    ("rbac.authorization.k8s.io", "Role", r#"{"rules": []}"#),
    ("rbac.authorization.k8s.io", "RoleBinding", r#"{"roleRef": "$ROLE"}"#),
    ("resource.k8s.io", "DeviceClass", r#"{}"#),
    ("resource.k8s.io", "ResourceClaim", r#"{"spec": "$DEVICES"}"#),
    ("resource.k8s.io", "ResourceClaimTemplate", r#"{"spec": {"spec": "$DEVICES"}}"#),
    (
        "resource.k8s.io",
        "ResourceSlice",
        r#"{"spec": {"nodeName": "a", "driver": "d.example.com", "pool": {"name": "a", "resourceSliceCount": 1}}}"#,
    ),
    ("scheduling.k8s.io", "PriorityClass", r#"{"value": 1}"#),
    ("storage.k8s.io", "CSIDriver", r#"{}"#),
    ("storage.k8s.io", "CSINode", r#"{"spec": {"drivers": []}}"#),
];

/// Further kinds of the groups above, and bodies of subresources.
const MORE: [(&str, &str, &str); 17] = [
    ("", "Binding", r#"{"target": {"kind": "Node", "name": "a"}}"#),
    ("policy", "Eviction", r#"{}"#),
    ("autoscaling", "Scale", r#"{"spec": {"replicas": 1}}"#),
    ("authentication.k8s.io", "TokenRequest", r#"{"spec": {"audiences": []}}"#),
    ("storage.k8s.io", "CSIStorageCapacity", r#"{"storageClassName": "a"}"#),
    ("storage.k8s.io", "StorageClass", r#"{"provisioner": "a"}"#),
    (
        "storage.k8s.io",
        "VolumeAttachment",
        r#"{"spec": {"attacher": "a", "nodeName": "a", "source": {"persistentVolumeName": "a"}}}"#,
    ),
    ("storage.k8s.io", "VolumeAttributesClass", r#"{"driverName": "d.example.com", "parameters": {"a": "b"}}"#),
    ("certificates.k8s.io", "ClusterTrustBundle", r#"{"spec": {"trustBundle": "$CERTIFICATE"}}"#),
    (
        "certificates.k8s.io",
        "PodCertificateRequest",
        r#"{"spec": {"signerName": "example.com/a", "podName": "a", "podUID": "a", "serviceAccountName": "default",
            "serviceAccountUID": "a", "nodeName": "a", "nodeUID": "a", "stubPKCS10Request": "$STUB"}}"#,
    ),
    (
        "coordination.k8s.io",
        "LeaseCandidate",
        r#"{"spec": {"leaseName": "a", "binaryVersion": "1.36.0", "emulationVersion": "1.36.0", "strategy": "OldestEmulationVersion"}}"#,
    ),
    ("internal.apiserver.k8s.io", "StorageVersion", r#"{"metadata": {"name": "@.as"}, "spec": {}}"#),
    ("resource.k8s.io", "DeviceTaintRule", r#"{"spec": {"taint": {"key": "example.com/a", "effect": "NoSchedule"}}}"#),
    ("resource.k8s.io", "ResourcePoolStatusRequest", r#"{"spec": {"driver": "d.example.com"}}"#),
    ("scheduling.k8s.io", "PodGroup", r#"{"spec": {"schedulingPolicy": {"basic": {}}}}"#),
    (
        "scheduling.k8s.io",
        "Workload",
        r#"{"spec": {"podGroupTemplates": [{"name": "a", "schedulingPolicy": {"basic": {}}}]}}"#,
    ),
    (
        "storagemigration.k8s.io",
        "StorageVersionMigration",
        r#"{"spec": {"resource": {"group": "apps", "resource": "deployments"}}}"#,
    ),
];

/// The values of `$` followed by a word. A pod has a volume to mount.
const PARTS: [(&str, &str); 8] = [
    (
        "ONCE",
        r#"{"metadata": {"labels": {"a": "b"}}, "spec": {"restartPolicy": "Never", "containers": ["$CONTAINER"]}}"#,
    ),
    ("TEMPLATE", r#"{"metadata": {"labels": {"a": "b"}}, "spec": "$POD"}"#),
    ("POD", r#"{"containers": ["$CONTAINER"], "volumes": [{"name": "v", "emptyDir": {}}]}"#),
    ("CONTAINER", r#"{"name": "c", "image": "i"}"#),
    (
        "RULE",
        r#"{"apiGroups": ["a.example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["a"]}"#,
    ),
    ("ACCESS", r#"{"verb": "get", "resource": "pods", "namespace": "default"}"#),
    ("ROLE", r#"{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}"#),
    ("DEVICES", r#"{"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "a"}}]}}"#),
];

/// Placeholder for the number of an object, in its name and in values that must be unique.
pub const SERIAL: &str = "SERIAL";

/// Returns the sample of a kind. Objects are named `growth-` and a number, except where the kind
/// requires another name.
pub fn sample(group: &str, kind: &str) -> Option<Value> {
    let is_kind = |(g, k, _): &&(&str, &str, &str)| *g == group && *k == kind;
    let (_, _, text) = SAMPLES.iter().chain(&MORE).find(is_kind)?;
    let word = format!("growth-{SERIAL}");
    let mut object: Value = serde_json::from_str(&text.replace('@', &word)).unwrap();
    expand(&mut object);
    let metadata = object.as_object_mut().unwrap().entry("metadata").or_insert_with(|| json!({}));
    // Access reviews have no name.
    if metadata.get("name").is_none() && !kind.ends_with("AccessReview") {
        metadata["name"] = word.into();
    }
    Some(object)
}

fn expand(value: &mut Value) {
    let part = value.as_str().and_then(|text| text.strip_prefix('$')).map(|name| match name {
        "REQUEST" => certificates().request.as_str().into(),
        "STUB" => certificates().stub.as_str().into(),
        "CERTIFICATE" => certificates().certificate.as_str().into(),
        name => {
            let (_, part) = PARTS.iter().find(|(known, _)| *known == name).unwrap();
            serde_json::from_str(part).unwrap()
        }
    });
    if let Some(part) = part {
        *value = part;
    }
    match value {
        Value::Object(members) => members.values_mut().for_each(expand),
        Value::Array(items) => items.iter_mut().for_each(expand),
        _ => {}
    }
}

/// Certificates in samples.
struct Certificates {
    /// A request, in PEM and base64.
    request: String,
    /// A request, in DER and base64.
    stub: String,
    /// A certificate of an authority, in PEM.
    certificate: String,
}

fn certificates() -> &'static Certificates {
    static MADE: OnceLock<Certificates> = OnceLock::new();
    MADE.get_or_init(|| {
        let base64 = |bytes: &[u8]| base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes);
        let key = rcgen::KeyPair::generate().unwrap();
        let mut parameters = rcgen::CertificateParams::new(Vec::new()).unwrap();
        let request = parameters.serialize_request(&key).unwrap();
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        Certificates {
            request: base64(request.pem().unwrap().as_bytes()),
            stub: base64(request.der()),
            certificate: parameters.self_signed(&key).unwrap().pem(),
        }
    })
}
