//! Benchmarks the declared checks of a pod with two containers, as in the runs of `benches/load`.

#![allow(clippy::unwrap_used, reason = "a benchmark may panic, its helpers too")]

use std::hint::black_box;

use apiserver::convert;
use criterion::{Criterion, criterion_group, criterion_main};
use machinery::defaulting::{apply_defaults, normalize};
use machinery::field_path::Path;
use machinery::hooks::WriteContext;
use machinery::reflect::Owned;
use machinery::validate::{Half, ValidationScope, Validator};
use serde_json::{Value, json};

fn container(name: &str, port: u16) -> Value {
    json!({
        "name": name,
        "image": format!("registry.example.com/shop/{name}:v1.24.3"),
        "args": ["--config=/etc/shop/config.yaml", "--log-format=json"],
        "env": [
            { "name": "POD_NAME", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } },
            { "name": "POD_NAMESPACE", "valueFrom": { "fieldRef": { "fieldPath": "metadata.namespace" } } },
        ],
        "ports": [{ "name": "main", "containerPort": port }],
        "resources": {
            "requests": { "cpu": "100m", "memory": "128Mi" },
            "limits": { "cpu": "500m", "memory": "256Mi" },
        },
        "readinessProbe": { "httpGet": { "path": "/ready", "port": port }, "periodSeconds": 5 },
        "volumeMounts": [{ "name": "config", "mountPath": "/etc/shop" }],
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": { "drop": ["ALL"] },
        },
    })
}

fn pod() -> Value {
    let term = json!({
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": { "matchLabels": { "app": "shop" } },
    });
    let preferred = json!([{ "weight": 100, "podAffinityTerm": term }]);
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": { "name": "shop", "namespace": "default", "uid": "u", "resourceVersion": "1" },
        "spec": {
            "serviceAccountName": "default",
            "volumes": [{ "name": "config", "configMap": { "name": "shop-config" } }],
            "containers": [container("web", 8080), container("metrics-proxy", 9090)],
            "affinity": { "podAntiAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": preferred } },
            "securityContext": { "runAsNonRoot": true, "runAsUser": 1000, "fsGroup": 2000 },
        },
    })
}

fn hub(object: &Value) -> Owned {
    let body = serde_json::to_vec(object).unwrap();
    let mut object = convert::decode(kubernetes::catalog(), &body, None).unwrap();
    apply_defaults(object.value.as_mut());
    let mut hub = object.kind.to_hub(object.value);
    normalize(hub.as_mut());
    hub
}

/// Runs the checks and returns the number of errors.
fn validate(context: &WriteContext, new: &Owned, old: Option<&Owned>) -> usize {
    let validator = Validator { scope: ValidationScope::Tagged, half: Half::Both, context, rules: None };
    let mut errors = Vec::new();
    validator.validate(new.as_ref(), old.map(Owned::as_ref), &Path::NONE, &mut errors);
    errors.len()
}

fn checks(criterion: &mut Criterion) {
    let (context, pod) = (WriteContext::default(), hub(&pod()));
    assert_eq!((validate(&context, &pod, None), validate(&context, &pod, Some(&pod))), (0, 0));
    criterion.bench_function("new pod", |bencher| bencher.iter(|| validate(&context, black_box(&pod), None)));
    criterion
        .bench_function("unchanged pod", |bencher| bencher.iter(|| validate(&context, black_box(&pod), Some(&pod))));
}

criterion_group!(benches, checks);
criterion_main!(benches);
