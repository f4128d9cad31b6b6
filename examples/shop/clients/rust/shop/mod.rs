// Written by `export rust`; change the definitions instead.
//
// Needs the crates `k8s-openapi` (with the feature of a version of Kubernetes), `serde` (with `derive`) and `serde_json`.

pub mod v1;
