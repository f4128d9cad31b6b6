//! The objects of the workloads.

use serde_json::{Value, json};

/// Returns a pod of a deployment with two containers.
///
/// It has 2.3 KB as posted, 6.5 KB of JSON and 4.6 KB of protobuf as stored, as in the reference
/// runs of kube-apiserver.
pub fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name,
            "labels": {"app": "shop", "pod-template-hash": "7d4b9c6f5d", "tier": "frontend"},
            "annotations": {"prometheus.io/scrape": "true", "prometheus.io/port": "9090", "checksum/config":
                "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "shop-7d4b9c6f5d",
                "uid": "3f1f8f9b-4f5e-4c0e-9c55-0d8e5d2e2f11", "controller": true, "blockOwnerDeletion": true}]
        },
        "spec": {
            "serviceAccountName": "default",
            "automountServiceAccountToken": false,
            "volumes": [{"name": "config", "configMap": {"name": "shop-config"}}],
            "containers": [container("web", 8080), container("metrics-proxy", 9090)],
            "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100,
                "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "shop"}}}}]}},
            "securityContext": {"runAsNonRoot": true, "runAsUser": 1000, "fsGroup": 2000}
        }
    })
}

fn container(name: &str, port: u16) -> Value {
    json!({
        "name": name,
        "image": format!("registry.example.com/shop/{name}:v1.24.3"),
        "args": ["--config=/etc/shop/config.yaml", "--log-format=json"],
        "env": [
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "POD_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}
        ],
        "ports": [{"name": "main", "containerPort": port}],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"cpu": "500m", "memory": "256Mi"}},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": port}, "periodSeconds": 5},
        "volumeMounts": [{"name": "config", "mountPath": "/etc/shop"}],
        "securityContext": {"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
            "capabilities": {"drop": ["ALL"]}}
    })
}

/// Returns a config map with this many bytes of data.
pub fn config_map(name: &str, size: usize) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"config.yaml": "x".repeat(size)}})
}

/// Returns the definition of a kind with these properties besides metadata.
fn definition(group: &str, plural: &str, kind: &str, properties: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "names": {"plural": plural, "kind": kind},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}}}]}
    })
}

/// Returns the schema of a status with a phase.
fn status() -> Value {
    json!({"type": "object", "properties": {"phase": {"type": "string"}}})
}

/// Returns the definition of maps, which equal config maps, in a separate group.
pub fn map_crd(group: &str) -> Value {
    definition(group, "maps", "Map", &json!({"data": {"type": "object", "additionalProperties": {"type": "string"}}}))
}

/// Returns a map with this many bytes of data.
pub fn map(group: &str, name: &str, size: usize) -> Value {
    let mut object = config_map(name, size);
    object["apiVersion"] = format!("{group}/v1").into();
    object["kind"] = "Map".into();
    object
}

/// Returns a secret with this many bytes of data.
pub fn secret(name: &str, size: usize) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": {"blob": "x".repeat(size)}})
}

/// Returns the definition of widgets, in a separate group.
pub fn crd(group: &str) -> Value {
    let part = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "count": {"type": "integer", "default": 1}}});
    let spec = json!({"type": "object", "properties": {
        "size": {"type": "integer", "minimum": 0}, "text": {"type": "string", "maxLength": 4096},
        "parts": {"type": "array", "items": part}}});
    definition(group, "widgets", "Widget", &json!({"spec": spec, "status": status()}))
}

/// Returns a widget of about 1 KB.
pub fn widget(group: &str, name: &str) -> Value {
    let parts: Vec<Value> = (0..8).map(|n| json!({"name": format!("part-{n}"), "count": n + 1})).collect();
    json!({
        "apiVersion": format!("{group}/v1"), "kind": "Widget", "metadata": {"name": name, "labels": {"app": "shop"}},
        "spec": {"size": 3, "text": "x".repeat(600), "parts": parts}
    })
}

/// Returns the definition of gadgets with this plural and a schema of about `schema` bytes: nested
/// objects of ten fields of common types.
pub fn large_crd(group: &str, plural: &str, schema: usize) -> Value {
    let (mut spec, one) = (part(0), part(1));
    let count = schema / (one.to_string().len() + 10);
    let filled: serde_json::Map<String, Value> = (0..count).map(|n| (format!("part{n}"), one.clone())).collect();
    spec["properties"]["parts"] = json!({"type": "object", "description": "What it is made of.", "properties": filled});
    let rule = json!({"rule": "!has(self.count0) || self.count0 <= 1000", "message": "too many"});
    spec["x-kubernetes-validations"] = json!([rule]);
    definition(group, plural, &format!("G{}", &plural[1..]), &json!({"spec": spec, "status": status()}))
}

fn part(level: usize) -> Value {
    let described = |mut of: Value, what: &str| {
        of["description"] =
            json!(format!("Describes {what} of this part, in a sentence of the usual length of descriptions."));
        of
    };
    let name = json!({"type": "string", "maxLength": 63, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"});
    let properties: serde_json::Map<String, Value> = [
        (format!("name{level}"), described(name, "the name")),
        (
            format!("count{level}"),
            described(json!({"type": "integer", "format": "int32", "minimum": 0}), "how many there are"),
        ),
        (format!("tags{level}"), described(json!({"type": "array", "items": {"type": "string"}}), "the tags")),
        (
            format!("labels{level}"),
            described(json!({"type": "object", "additionalProperties": {"type": "string"}}), "the labels"),
        ),
        (format!("enabled{level}"), described(json!({"type": "boolean", "default": true}), "whether it is used")),
    ]
    .into_iter()
    .collect();
    json!({"type": "object", "description": "A part of a gadget.", "required": [format!("name{level}")], "properties": properties})
}

/// Returns a gadget.
pub fn gadget(group: &str, plural: &str) -> Value {
    json!({
        "apiVersion": format!("{group}/v1"), "kind": format!("G{}", &plural[1..]), "metadata": {"name": "first"},
        "spec": {"name0": "one", "count0": 3, "parts": {"part0": {"name1": "two", "tags1": ["a", "b"]}}}
    })
}
