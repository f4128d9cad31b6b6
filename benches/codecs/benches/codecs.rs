//! Pods of 2 KB and of 20 KB of JSON, through this project's codecs and through the derives of
//! prost and serde: `cargo bench -p codecs`.
//!
//! The benchmark measures CPU time of the thread, which other work on the machine disturbs least.
//! Before the times, it prints the allocations of each operation.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::hint::black_box;
use std::time::Duration;

use codecs::structs::k8s::io::api::core::v1::Pod as Derived;
use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{Criterion, Throughput};
use generated::core::v1::Pod;
use k8s_openapi::api::core::v1::Pod as OpenApi;
use machinery::json::{self, Issues};
use machinery::protobuf;
use machinery::reflect::{Mut, Ref};
use prost::Message;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

/// An allocator that counts allocations.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

#[allow(unsafe_code)]
// SAFETY: all calls are forwarded to mimalloc unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        unsafe { mimalloc::MiMalloc.alloc(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        unsafe { mimalloc::MiMalloc.realloc(at, layout, size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { mimalloc::MiMalloc.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// CPU time of this thread.
struct CpuTime;

fn now() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}

impl Measurement for CpuTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        now()
    }

    fn end(&self, began: Duration) -> Duration {
        now().saturating_sub(began)
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

/// Returns a pod with this many containers.
fn pod(containers: usize) -> Value {
    let (mut specs, mut statuses) = (Vec::new(), Vec::new());
    for number in 0..containers {
        specs.push(container(number));
        statuses.push(json!({
            "name": format!("web-{number}"), "ready": true, "restartCount": 1, "started": true,
            "image": "registry.example.com/shop/web:v1.24.3", "containerID": "containerd://9f86d081884c7d659a2feaa0c55ad015",
            "imageID": "registry.example.com/shop/web@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "state": {"running": {"startedAt": "2026-01-02T03:04:05Z"}}, "lastState": {}
        }));
    }
    json!({
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": "shop-7d4b9c6f5d-x2x4z", "generateName": "shop-7d4b9c6f5d-", "namespace": "default",
            "uid": "3f1f8f9b-4f5e-4c0e-9c55-0d8e5d2e2f10", "resourceVersion": "123456",
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "labels": {"app": "shop", "pod-template-hash": "7d4b9c6f5d", "tier": "frontend"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "shop-7d4b9c6f5d",
                "uid": "3f1f8f9b-4f5e-4c0e-9c55-0d8e5d2e2f11", "controller": true, "blockOwnerDeletion": true}]},
        "spec": {
            "volumes": [{"name": "config", "configMap": {"name": "shop-config", "defaultMode": 420}}],
            "containers": specs, "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
            "serviceAccountName": "default", "serviceAccount": "default", "nodeName": "node-17",
            "securityContext": {"runAsUser": 1000, "runAsNonRoot": true}, "schedulerName": "default-scheduler",
            "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute",
                "tolerationSeconds": 300}], "priority": 0, "enableServiceLinks": true},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True",
                "lastTransitionTime": "2026-01-02T03:04:05Z"}],
            "hostIP": "10.0.0.17", "podIP": "10.1.2.3", "podIPs": [{"ip": "10.1.2.3"}], "startTime": "2026-01-02T03:04:05Z",
            "containerStatuses": statuses, "qosClass": "Burstable"}
    })
}

fn container(number: usize) -> Value {
    json!({
        "name": format!("web-{number}"), "image": "registry.example.com/shop/web:v1.24.3",
        "args": ["--config=/etc/shop/config.yaml", "--log-format=json"],
        "ports": [{"name": "main", "containerPort": 8080, "protocol": "TCP"}],
        "env": [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
            {"name": "REGION", "value": "eu-central-1"}],
        "resources": {"limits": {"cpu": "500m", "memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
        "volumeMounts": [{"name": "config", "mountPath": "/etc/shop"}],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080, "scheme": "HTTP"}, "timeoutSeconds": 1,
            "periodSeconds": 5, "successThreshold": 1, "failureThreshold": 3},
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", "imagePullPolicy": "IfNotPresent",
        "securityContext": {"capabilities": {"drop": ["ALL"]}, "readOnlyRootFilesystem": true}
    })
}

fn decoded(text: &[u8]) -> Pod {
    let mut pod = Pod::default();
    json::decode(text, Mut::of(&mut pod), &mut Issues::ignore()).expect("the pod decodes");
    pod
}

/// Measures one operation; first the allocations of one run.
fn measure(criterion: &mut Criterion<CpuTime>, bytes: usize, group: &str, name: &str, mut run: impl FnMut()) {
    run();
    let before = ALLOCATIONS.get();
    run();
    println!("{group} {name}: {} allocations", ALLOCATIONS.get() - before);
    let mut group = criterion.benchmark_group(group);
    group.throughput(Throughput::Bytes(bytes as u64)).bench_function(name, |bencher| bencher.iter(&mut run));
    group.finish();
}

fn measure_json(criterion: &mut Criterion<CpuTime>, text: &[u8], size: &str) {
    let (ours, derived) = (decoded(text), serde_json::from_slice::<Derived>(text).expect("serde reads the pod"));
    let openapi: OpenApi = serde_json::from_slice(text).expect("k8s-openapi reads the pod");
    let tree = |text: &[u8]| serde_json::from_slice::<Value>(text).expect("JSON");
    let mut written = tree(&serde_json::to_vec(&derived).expect("serde writes the pod"));
    written["kind"] = "Pod".into();
    written["apiVersion"] = "v1".into();
    assert_eq!(written, tree(text), "the derives read and write the whole pod");

    let group = format!("json encode {size}");
    let mut out = Vec::new();
    measure(criterion, text.len(), &group, "ours", || {
        out.clear();
        json::encode(Ref::of(black_box(&ours)), &mut out);
    });
    measure(criterion, text.len(), &group, "serde derive", || {
        out.clear();
        serde_json::to_writer(&mut out, black_box(&derived)).expect("serde writes the pod");
    });
    measure(criterion, text.len(), &group, "k8s-openapi", || {
        out.clear();
        serde_json::to_writer(&mut out, black_box(&openapi)).expect("serde writes the pod");
    });
    let group = format!("json decode {size}");
    measure(criterion, text.len(), &group, "ours", || drop(black_box(decoded(black_box(text)))));
    measure(criterion, text.len(), &group, "serde derive", || {
        drop(black_box(serde_json::from_slice::<Derived>(black_box(text))));
    });
    measure(criterion, text.len(), &group, "k8s-openapi", || {
        drop(black_box(serde_json::from_slice::<OpenApi>(black_box(text))));
    });
}

fn measure_protobuf(criterion: &mut Criterion<CpuTime>, text: &[u8], size: &str) {
    let ours = decoded(text);
    let mut raw = Vec::new();
    protobuf::encode(Ref::of(&ours), &mut raw);
    let derived = Derived::decode(raw.as_slice()).expect("prost reads the pod");

    let group = format!("protobuf encode {size}");
    let mut out = Vec::new();
    measure(criterion, raw.len(), &group, "ours", || {
        out.clear();
        protobuf::encode(Ref::of(black_box(&ours)), &mut out);
    });
    measure(criterion, raw.len(), &group, "prost derive", || {
        out.clear();
        black_box(&derived).encode(&mut out).expect("prost writes the pod");
    });
    let group = format!("protobuf decode {size}");
    measure(criterion, raw.len(), &group, "ours", || {
        let mut pod = Pod::default();
        protobuf::decode(black_box(&raw), Mut::of(&mut pod)).expect("the pod decodes");
        drop(black_box(pod));
    });
    measure(criterion, raw.len(), &group, "prost derive", || {
        drop(black_box(Derived::decode(black_box(raw.as_slice()))));
    });
    let mut transcoded = Vec::new();
    measure(criterion, raw.len(), &format!("protobuf to json {size}"), "ours", || {
        transcoded.clear();
        protobuf::to_json(Ref::of(&ours).def(), black_box(&raw), &mut transcoded).expect("the pod is JSON");
    });
}

fn main() {
    let mut criterion = Criterion::default().with_measurement(CpuTime).configure_from_args();
    for (containers, size) in [(1, "2 KB"), (13, "20 KB")] {
        let text = pod(containers).to_string().into_bytes();
        println!("{size}: {} bytes of JSON", text.len());
        measure_json(&mut criterion, &text, size);
        measure_protobuf(&mut criterion, &text, size);
    }
    criterion.final_summary();
}
